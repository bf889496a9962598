// What the person did waits here, on this device, until the server has confirmed it.
//
// Each thing has an id of its own, made once. It is sent in order, one at a time, and again with the same id when no
// answer came: the server knows the id and counts it once. A reload finds the rest and goes on.

import { ApiError } from "../shared/api.js";
import { Patience } from "../shared/backoff.js";

/** Not crypto.randomUUID, which exists only under TLS and on localhost: a campaign may run in a plain local network. */
const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** One storage key for each item: two tabs never overwrite each other's list. */
class Shelf {
  #memory = new Map();
  #prefix;
  #count = 0;
  lasting = true;

  constructor(prefix) {
    this.#prefix = prefix;
  }

  #store(call) {
    try {
      return call(localStorage);
    } catch {
      this.lasting = false; // forbidden or full: the page warns before it is closed
      return null;
    }
  }

  newKey() {
    this.#count += 1;
    return `${this.#prefix}${Date.now().toString().padStart(15, "0")}-${this.#count.toString().padStart(6, "0")}`;
  }

  put(key, item) {
    this.#memory.set(key, item);
    this.#store((storage) => storage.setItem(key, JSON.stringify(item)));
  }

  remove(key) {
    this.#memory.delete(key);
    this.#store((storage) => storage.removeItem(key));
  }

  read(key) {
    const text = this.#store((storage) => storage.getItem(key));
    return this.lasting ? parsed(text) : (this.#memory.get(key) ?? null);
  }

  all() {
    const keys = this.#store((storage) => Object.keys(storage)) ?? [];
    return keys
      .filter((key) => key.startsWith(this.#prefix))
      .sort()
      .map((key) => [key, this.read(key)])
      .filter(([, item]) => item !== null);
  }
}

function parsed(text) {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

export class Outbox {
  #shelf;
  #busy = false;
  #patience = new Patience();

  /**
   * name: whose and of which campaign. send(item) posts it. Listeners: accepted(item, response), refused(item, error),
   * signedOut(), changed(). waits(error): whether to try this error again later.
   */
  constructor(name, { send, accepted, refused, signedOut, changed, waits }) {
    this.#shelf = new Shelf(`askone-outbox/${name}/`);
    Object.assign(this, { send, accepted, refused, signedOut, changed, waits });
    this.items = this.#shelf.all().map(([key, item]) => ({ ...item, key }));
  }

  /** "saved", "saving", or "unsaved" once a try has failed. */
  get state() {
    if (this.items.length === 0) return "saved";
    return this.#patience.failing ? "unsaved" : "saving";
  }

  get lasting() {
    return this.#shelf.lasting;
  }

  /** Keeps it first, then sends it when its turn comes. extra stays on this device. */
  push(path, body, extra = {}) {
    const item = { path, body: { ...body, id: newId() }, tried: false, ...extra, key: this.#shelf.newKey() };
    this.items.push(item);
    this.#keep(item);
    this.changed();
    this.pump();
    return item;
  }

  #keep({ key, ...item }) {
    this.#shelf.put(key, item);
  }

  #forget(item) {
    this.#shelf.remove(item.key);
    this.items = this.items.filter((other) => other !== item);
  }

  #calm(item) {
    this.#patience.reset();
    this.#forget(item);
  }

  /** Removes an item that was never sent, neither here nor from another tab. False where it may be on its way. */
  takeBack(item) {
    const stored = this.#shelf.read(item.key);
    if (stored === null || stored.tried || item.tried) return false;
    this.#forget(item);
    this.changed();
    return true;
  }

  /** Removes what has lost its meaning; says how many. */
  drop(test) {
    const gone = this.items.filter(test);
    gone.forEach((item) => this.#forget(item));
    return gone.length;
  }

  async pump() {
    if (this.#busy) return;
    this.#busy = true;
    try {
      while (this.items.length > 0) {
        if (!(await this.#first())) return;
      }
    } finally {
      this.#busy = false;
      this.changed();
    }
  }

  /** Tries the first item once; false: stop here. */
  async #first() {
    const item = this.items[0];
    item.tried = true;
    this.#keep(item);
    this.changed();
    try {
      const response = await this.send(item);
      this.#calm(item);
      this.accepted(item, response);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) {
        this.signedOut();
        return false;
      }
      if (this.waits(error)) {
        const pause = this.#patience.after(error);
        this.changed();
        await pause;
      } else {
        this.#calm(item);
        this.refused(item, error);
      }
    }
    return true;
  }
}
