// Private answers: each is flipped here at random, before anything is kept or sent, with the probability 1 / (1 + e^ε).
// No seed and no record: whoever could draw the same numbers again would know the true answer.

import { locale, t } from "../shared/language.js";
import { el } from "../shared/dom.js";

const ALL = 2 ** 53;

/** A whole number below 2^53, each as likely as the others, from the browser's secure random numbers. */
function lot() {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return (high >>> 11) * 2 ** 32 + low;
}

export const flipProbability = (epsilon) => 1 / (1 + Math.exp(epsilon));

/** The answer that may be sent. Who gives none (null) sends the toss of a coin, which is as private, and told from none. */
export const randomized = (yes, epsilon) => (yes === null ? lot() < ALL / 2 : yes !== lot() < flipProbability(epsilon) * ALL);

const number = (value, digits = 3) => new Intl.NumberFormat(locale(), { maximumSignificantDigits: digits }).format(value);
const percent = (value) => new Intl.NumberFormat(locale(), { style: "percent", maximumSignificantDigits: 2 }).format(value);

/** What somebody should know before the first answer: what ε means, and what is recorded all the same. */
export const consent = ({ epsilon }) => [
  t("Your answers are private: before one leaves this device, it is turned into its opposite at random, in {share} of cases. So nobody can know what you really answered, not even the server.", { share: percent(flipProbability(epsilon)) }),
  t("Whatever arrives there is at most {factor} times as likely after one true answer as after the other (that is ε = {epsilon}). With each further answer of yours these factors multiply.", { factor: number(Math.exp(epsilon)), epsilon: number(epsilon) }),
  t("To skip is to send the toss of a coin. Nothing can be taken back. That you answered, and in which minute, is recorded."),
].map((text) => el("p", {}, text));

/** "You have spent 3 of 5", of somebody whose answers cost ε each. */
export const spent = ({ epsilon, spent: used, budget }, waiting = 0) => {
  const parts = { spent: number(used + waiting * epsilon, 6), budget: number(budget ?? 0, 6) };
  return budget === null ? t("you have spent {spent} of your privacy", parts) : t("you have spent {spent} of {budget} of your privacy", parts);
};

export const isSpent = (privacy) => Boolean(privacy && privacy.budget !== null && privacy.spent + privacy.epsilon > privacy.budget * (1 + 1e-9));
