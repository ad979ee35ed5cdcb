// What was deleted, edited or erased since a screen was drawn, of what it shows.

import { get } from './api.js';
import { on } from './live.js';

const SOON = 1000; // milliseconds until what may have changed is asked for
const LATER = 4000;

export class Changes {
  #path;
  #signal;
  #run;
  #seen = -1; // the entry up to which changes are known; -1 before it is known where to begin
  #timer = 0;
  #looking = false;
  #again = false;

  // `run({ deleted, edited, all })` hears the ids of entries, or that all may have changed.
  constructor(chat, signal, run) {
    this.#path = `tape/${chat}/changed`;
    this.#signal = signal;
    this.#run = run;
    signal.addEventListener('abort', () => clearTimeout(this.#timer));
  }

  // Begin behind the entries that are shown, or, if nothing is shown yet, behind all there are.
  async begin(size) {
    if (size === undefined) await this.look();
    else if (this.#seen < 0) this.#seen = size;
  }

  // Look whenever the chat changes.
  follow(chat) {
    for (const topic of ['chat', 'all']) this.#signal.addEventListener('abort', on(topic, (data) => { if (!data?.chat || data.chat === chat) this.soon(); }));
  }

  // Read what the rows behind the entry `after` say of others.
  read(rows, after, last) {
    if (after > this.#seen) { this.soon(); return; }
    const found = { deleted: [], edited: [], all: false };
    for (const { id, kind, to } of rows) {
      if (id <= this.#seen) continue;
      if (kind === 'erase') found.all = true;
      else if (to && kind === 'delete') found.deleted.push(to);
      else if (to && kind === 'edit') found.edited.push(to);
    }
    this.#seen = Math.max(this.#seen, last);
    this.#tell(found);
  }

  soon(after = SOON) {
    this.#timer ||= setTimeout(() => { this.#timer = 0; this.look(); }, after);
  }

  async look() {
    if (this.#looking) { this.#again = true; return; }
    this.#looking = true;
    try {
      do {
        this.#again = false;
        const found = await get(this.#seen < 0 ? this.#path : `${this.#path}?after=${this.#seen}`, { signal: this.#signal });
        this.#seen = Math.max(this.#seen, found.upto);
        this.#tell(found);
      } while (this.#again);
    } catch (cause) {
      if (!this.#signal.aborted && cause.status !== 401) this.soon(LATER);
    }
    this.#looking = false;
  }

  #tell(found) {
    if (found.all || found.deleted.length || found.edited.length) this.#run(found);
  }
}

// Run the newest of many calls, one at a time: what is called meanwhile runs then, and only the last.
export function newest(run) {
  let running = false;
  let next = null;
  const call = async (...values) => {
    next = values;
    if (running) return;
    running = true;
    while (next) {
      const now = next;
      next = null;
      await run(...now);
    }
    running = false;
  };
  call.drop = () => { next = null; };
  return call;
}
