"""Errata of the paper and its reference code, for the report: the table of docs/errata.md, in short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Erratum:
    """An erratum: where it is (as docs/errata.md names it), what stands there, and what is right."""

    where: str
    paper: str
    right: str


ERRATA = (
    Erratum("c₂, median", "√π Γ((m−1)/2) / (m Γ(m/2))", "Γ(m/2) / (√π Γ((m+1)/2)): 1, 2/π, 1/2 for m = 1, 2, 3"),
    Erratum("c₁, least squares", "π^{3/2} / (2M(m²+4m+3))", "1/(4Mm), V uniform on [0, 2M], for ‖z‖ ≤ 2M"),
    Erratum("V on [0, M] (appendix B)", "an unbiased gradient", "saturates: −47 % at m = 1, ‖z‖ = 1.9M"),
    Erratum("generic scheme", "2B(d²+4d+3)/π^{3/2}", "2Bd with U on the sphere, 2B(d+2) on the ball"),
    Erratum("Theorem 1", "2κM/(c₂√T) ≤ κM m^{3/2}/√T", "κM/(c₂√T) ≤ √(πm/2) κM/√T: √m, and no factor 2"),
    Erratum("Gaussian kernel", "exp(−‖x−x′‖/(2σ²))", "exp(−‖x−x′‖²/(2σ²))"),
    Erratum("infimum loss with noise", "a baseline for the median", "its target is F⁻¹(E F(Y)), not the median"),
    Erratum("surface of the sphere, for c₁ and c₂", "slices weigh (1−t²)^{(m−2)/2}", "the exponent is (m−3)/2"),
    Erratum(
        "Gaussian lemma, one dimension",
        "E|μ̂−Y| = d erf(d/(√2σ)) − σ√(2/π) e^{−d²/(2σ²)}",
        "+: at d = μ̂−μ = 0 it is E|Y−μ| = σ√(2/π)",
    ),
    Erratum("units", "Algorithm 1 hides 1/c₂ in γ", "a ridge must be in true gradient units, or it changes with m"),
    Erratum("Nyström", "Euclidean SGD on the coefficients", "squares the conditioning: features must be whitened"),
    Erratum("min-max proposition", "f* = argmin_y g*_y", "argmax (v* = δ_{y*})"),
    Erratum("its appendix", "L = ε(v(S) − v(S^c))", "L = ε(1 − 2v(S)) = −ε(v(S) − v(S^c))"),
    Erratum("coordinate questions", "the median surrogate", "the ℓ1 loss, whose minimiser is 1{p_y > 1/2}"),
    Erratum('a coordinate question is "Y = y?"', "always", "only while 0 ≤ z_y < 1; outside its answer is known"),
    Erratum(
        "figure on the query strategy",
        "two thirds is the ratio of the solid angle",
        "that ratio is one third; the useful question is asked two thirds of the time",
    ),
    Erratum("proof of the median surrogate", "x ↦ √(a−2x) increases", "it decreases"),
    Erratum("embedding", "φ(y) = (1{i above j}), of 0 and 1", "±1: with 0 and 1 always one order is decoded"),
    Erratum("directions", "U uniform on {e_ij}", "on {±e_ij}: else only positive parts of z − φ are seen"),
    Erratum("sign(0)", "three-valued answers (reference code)", "an answer is a bool, at a tie too"),
    Erratum("labels at the start", "a ridge solution on true labels (reference code)", "θ = 0, and a declared range"),
    Erratum("ties of an argmax", "fall to index 0, where the true classes are (reference code)", "broken at random"),
    Erratum("average", "weights that do not sum to one (reference code)", "exact for every rule"),
)
