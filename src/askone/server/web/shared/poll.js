// Asks again and again while the page is seen. A failure loses nothing: what was shown stays, and the next try comes.

const PERIOD = 2000;
const SLOWEST = 20_000;

/** `fetch()` gives a record, `use(record)` shows it, `state(error or null)` says how it goes. Returns {now, stop}. */
export function poll({ fetch, use, state, period = PERIOD }) {
  let timer = 0;
  let running = false;
  let again = false;
  let failures = 0;
  let stopped = false;

  async function turn() {
    clearTimeout(timer);
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      const record = await fetch();
      failures = 0;
      if (!stopped) {
        state(null);
        use(record);
      }
    } catch (error) {
      failures += 1;
      if (!stopped) state(error);
    } finally {
      running = false;
      plan();
    }
  }

  function plan() {
    clearTimeout(timer);
    if (stopped || document.hidden) return;
    const wait = again ? 0 : Math.min(SLOWEST, period * 1.6 ** failures);
    again = false;
    timer = setTimeout(turn, wait);
  }

  const wake = () => (document.hidden ? clearTimeout(timer) : turn());
  document.addEventListener("visibilitychange", wake);
  window.addEventListener("online", wake);
  turn();
  return {
    now: turn,
    stop() {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", wake);
      window.removeEventListener("online", wake);
    },
  };
}
