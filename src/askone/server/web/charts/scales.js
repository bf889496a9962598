// From data to pixels, and the ticks between.

/** A linear scale from [a, b] to [from, to], with ticks at round numbers. */
export function linear(a, b, from, to) {
  const span = b - a || 1;
  const at = (value) => from + ((value - a) / span) * (to - from);
  at.ticks = (most) => roundTicks(a, b, most);
  at.domain = [a, b];
  return at;
}

/** A logarithmic scale: ticks at 1, 2, 5 times a power of ten where there is room. */
export function logarithmic(a, b, from, to) {
  const low = Math.log(a);
  const span = Math.log(b) - low || 1;
  const at = (value) => from + ((Math.log(Math.max(value, a)) - low) / span) * (to - from);
  at.ticks = (most) => {
    for (const steps of [[1, 2, 5], [1, 3], [1]]) {
      const ticks = powers(a, b, steps);
      if (ticks.length <= most) return ticks;
    }
    return powers(a, b, [1]).filter((_, i, all) => i % Math.ceil(all.length / most) === 0);
  };
  at.domain = [a, b];
  return at;
}

function powers(a, b, steps) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(a)); 10 ** power <= b; power++)
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= a * 0.999 && tick <= b * 1.001) ticks.push(tick);
    }
  return ticks;
}

/** At most `most` round numbers within [a, b]. */
export function roundTicks(a, b, most = 6) {
  if (!(b > a)) return [a];
  const raw = (b - a) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => (b - a) / m <= most) ?? 10 * power;
  const ticks = [];
  for (let k = Math.ceil(a / step - 1e-9); k * step <= b + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

/** The range of the values, a little widened, from zero where zero is near. */
export function extent(values, { zero = false, margin = 0.06 } = {}) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values)
    if (Number.isFinite(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (low > high) return [0, 1];
  if (low === high) {
    const room = Math.abs(low) / 2 || 1;
    [low, high] = [low - room, high + room];
  }
  const span = high - low;
  const floor = zero && low >= 0 && low < 2 * span ? 0 : low - margin * span;
  return [floor, high + margin * span];
}
