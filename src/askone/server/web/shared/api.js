// The one way to the server: JSON in, JSON out, the CSRF token sent along, every failure an ApiError.

const ROOT = "/api/v1";
const PATIENCE = 30_000;

export class ApiError extends Error {
  /** status 0 means that no answer came: code "offline" or "timeout". retryAfter is in seconds, or null. */
  constructor({ status, code, message, argument = null, retryAfter = null }) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.argument = argument;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later without a change. */
  get passing() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

const UNCHANGED = Symbol("unchanged");

// undefined: not asked yet; null: nobody is signed in.
let csrf;

const safe = (method) => method === "GET";

/** Who is signed in, their campaigns, and whether the server needs its first set-up. */
export async function me() {
  const record = await request("GET", "/me");
  csrf = record.csrf ?? null;
  return record;
}

/** A GET for those who ask again and again: what has not changed since is not sent again, and is the same record. */
export function remembered() {
  const known = { path: null, mark: null, record: null };
  return async (path) => {
    const same = known.path === path && known.mark;
    const record = await request("GET", path, undefined, { mark: same ? known.mark : null, marked: (mark) => { known.next = mark; } });
    if (record !== UNCHANGED) Object.assign(known, { path, mark: known.next, record });
    return known.record;
  };
}

export const get = (path, options) => request("GET", path, undefined, options);
export const post = (path, body = {}, options) => request("POST", path, body, options);
export const patch = (path, body = {}, options) => request("PATCH", path, body, options);
export const del = (path, options) => request("DELETE", path, undefined, options);

/** options: keepalive (survives the page), patience (milliseconds), signal (ends it); mark and marked, see `remembered`. */
async function request(method, path, body, options = {}) {
  if (!safe(method) && csrf === undefined && !options.keepalive) await me();
  try {
    return await once(method, path, body, options);
  } catch (error) {
    // A token of an earlier session in another tab: fetch the present one and try once more.
    if (!(error instanceof ApiError) || error.code !== "csrf" || safe(method)) throw error;
    await me();
    return once(method, path, body, options);
  }
}

async function once(method, path, body, { keepalive = false, patience = PATIENCE, signal: ended = null, mark = null, marked = null } = {}) {
  const headers = { Accept: "application/json" };
  if (mark) headers["If-None-Match"] = mark;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (!safe(method) && csrf) headers["X-CSRF-Token"] = csrf;
  const limit = AbortSignal.timeout(patience);
  let response;
  let text;
  try {
    response = await fetch(ROOT + path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      redirect: "error",
      cache: "no-store",
      signal: ended ? AbortSignal.any([ended, limit]) : limit,
      keepalive,
    });
    text = await response.text();
  } catch {
    const late = limit.aborted;
    throw new ApiError({
      status: 0,
      code: late ? "timeout" : "offline",
      message: late ? "The server took too long to answer." : "The server cannot be reached.",
    });
  }
  if (mark && response.status === 304) return UNCHANGED;
  marked?.(response.headers.get("ETag"));
  return settle(response.status, response.headers, text);
}

/** The record of a good response; an ApiError for any other. Keeps the token that a sign-in brings. */
function settle(status, headers, text) {
  const record = parsed(text, headers.get("Content-Type") ?? "");
  if (status >= 200 && status < 300) {
    if (record !== null && typeof record === "object" && "csrf" in record) csrf = record.csrf;
    return record;
  }
  const told = record?.error ?? {};
  throw new ApiError({
    status,
    code: told.code ?? `http_${status}`,
    message: told.message ?? `The server answered with status ${status}.`,
    argument: told.argument ?? null,
    retryAfter: seconds(headers.get("Retry-After")),
  });
}

function parsed(text, type) {
  if (text === "") return null;
  if (!type.includes("json")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Retry-After is a number of seconds or a date. */
function seconds(value) {
  if (value === null) return null;
  const number = Number(value);
  if (Number.isFinite(number)) return Math.max(0, number);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
}

/** Sends a File as a raw body. onprogress gets a share in [0, 1]; XMLHttpRequest, as fetch tells no progress. */
export async function upload(path, file, onprogress = () => {}) {
  if (csrf === undefined) await me();
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open("POST", ROOT + path);
    call.setRequestHeader("Accept", "application/json");
    call.setRequestHeader("Content-Type", "application/octet-stream");
    // Header values are Latin-1: a name is sent percent-encoded.
    call.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
    if (csrf) call.setRequestHeader("X-CSRF-Token", csrf);
    call.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onprogress(event.loaded / event.total);
    });
    call.addEventListener("load", () => {
      const headers = { get: (name) => call.getResponseHeader(name) };
      try {
        resolve(settle(call.status, headers, call.responseText));
      } catch (error) {
        reject(error);
      }
    });
    const lost = () => reject(new ApiError({ status: 0, code: "offline", message: "The server cannot be reached." }));
    call.addEventListener("error", lost);
    call.addEventListener("abort", lost);
    call.send(file);
  });
}

/** A path inside this site, or the start page: a "next" from the address bar must not lead elsewhere. */
export function inside(path) {
  if (typeof path !== "string" || !path.startsWith("/")) return "/";
  try {
    const url = new URL(path, location.origin);
    return url.origin === location.origin ? url.pathname + url.search + url.hash : "/";
  } catch {
    return "/";
  }
}

/** To the sign-in page and back here afterwards. */
export function toLogin() {
  location.assign(`/login?next=${encodeURIComponent(location.pathname)}`);
}
