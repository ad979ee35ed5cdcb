// The part of a tape that is loaded: rows in order, at most MAX_ROWS, and where each is drawn.

const MAX_ROWS = 2500;
const QUIET_SECONDS = 1800;
const LINEAR_SECONDS = 45;
const QUIET_WIDTH = 72;
const STEP = { said: 11, answer: 11, chapter: 14 };
const SMALL_STEP = 1.5;
const LANE_MARGIN = 26;

export class Strip {
  rows = [];
  xs = [];
  quiet = [];   // { x, width, seconds, at }: what is left out of long silences
  turns = [];   // { x, end, lane, turn, status }: `end` is null while a turn runs
  lanes = new Map(); // lane -> { track, x, end, hue, next }: `next` is where the next lane on its track begins
  tracks = 1;
  width = 0;
  first = 0;
  last = 0;
  size = 0;
  #gone = new Set(); // messages that were deleted since the screen was opened
  scale = 3;    // pixels a second
  fit = 0;      // pixels over which a whole tape is spread that would take less
  #spread = 1;

  // Take a page in the place of what is there.
  replace({ rows, first, last, size }) {
    this.rows = this.#shown(rows);
    Object.assign(this, { first, last, size });
    this.#lay();
  }

  // Put a page at an end; return by how much what was there has moved.
  extend({ rows, first, last, size }, older) {
    this.size = size;
    if (!rows.length) return 0;
    const kept = older ? this.rows[0] : this.rows.at(-1);
    const before = this.placeOf(kept.id);
    this.rows = older ? [...this.#shown(rows), ...this.rows] : [...this.rows, ...this.#shown(rows)];
    if (older) this.first = first;
    else this.last = last;
    if (this.rows.length > MAX_ROWS) {
      this.rows = older ? this.rows.slice(0, MAX_ROWS) : this.rows.slice(-MAX_ROWS);
      if (older) this.last = this.rows.at(-1).id;
      else this.first = this.rows[0].id;
    }
    this.#lay();
    return this.placeOf(kept.id) - before;
  }

  // Take rows in the place of those with their ids.
  renew(rows) {
    for (const row of this.#shown(rows)) {
      const i = this.indexOf(row.id);
      if (this.rows[i]?.id === row.id) this.rows[i] = row;
    }
    this.#lay();
  }

  // Take the texts from messages that were deleted, also from what is still on its way.
  forget(ids) {
    for (const id of ids) this.#gone.add(id);
    this.renew(this.rows.filter(({ id }) => ids.includes(id)));
  }

  #shown(rows) {
    return rows.map((row) => (this.#gone.has(row.id) && 'text' in row ? { ...row, text: undefined, gone: true } : row));
  }

  zoom(factor) {
    this.scale = Math.min(30, Math.max(0.3, this.scale * this.#spread * factor));
    this.#lay();
  }

  // Take the width over which a short tape is spread; return whether that changes anything.
  fitTo(width) {
    if (width === this.fit) return false;
    this.fit = width;
    if (this.whole) this.#lay();
    return this.whole;
  }

  get whole() { return this.first <= 1 && this.last >= this.size; }

  // The index of the first row at or behind x.
  indexAt(x) {
    let [low, high] = [0, this.xs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.xs[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  indexOf(id) {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle].id < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Where an entry is drawn, in pixels.
  placeOf(id) { return this.xs[Math.min(this.xs.length - 1, this.indexOf(id))] ?? 0; }

  #step(row, before) {
    const seconds = Math.max(0, (row.time - before.time) / 1000);
    const least = STEP[row.kind] ?? SMALL_STEP;
    if (seconds >= QUIET_SECONDS) return { width: QUIET_WIDTH, quiet: seconds };
    const linear = Math.min(seconds, LINEAR_SECONDS) * this.scale;
    const rest = seconds > LINEAR_SECONDS ? 8 * Math.sqrt(this.scale) * Math.log2(seconds / LINEAR_SECONDS) : 0;
    return { width: Math.max(least, linear + rest), quiet: 0 };
  }

  #lay() {
    const { rows } = this;
    for (const row of rows) row.time ??= Date.parse(row.at);
    const steps = rows.map((row, i) => (i ? this.#step(row, rows[i - 1]) : { width: 0, quiet: 0 }));
    this.#spread = this.whole ? this.#spreadOf(steps) : 1;
    this.xs = new Array(rows.length);
    this.quiet = [];
    let x = 0;
    for (let i = 0; i < rows.length; i++) {
      const { width, quiet } = steps[i];
      if (quiet) this.quiet.push({ x, width, seconds: quiet });
      x += quiet ? width : width * this.#spread;
      this.xs[i] = x;
    }
    this.width = x;
    this.#weave();
  }

  // By how much all but the silences is spread, so that a short tape has the width of the window.
  #spreadOf(steps) {
    let [quiet, rest] = [0, 0];
    for (const step of steps) {
      if (step.quiet) quiet += step.width;
      else rest += step.width;
    }
    return rest ? Math.max(1, (this.fit - quiet) / rest) : 1;
  }

  // Give each lane a track while it is in use, as in a git graph; turns take theirs from their lane.
  #weave() {
    const { rows, xs } = this;
    const laneOfTurn = new Map();
    for (const row of rows) if (row.turn && row.lane) laneOfTurn.set(row.turn, row.lane);
    const spans = new Map();
    this.turns = [];
    const open = new Map();
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i];
      const lane = row.lane ?? laneOfTurn.get(row.turn) ?? null;
      row.on = lane;
      if (lane !== null) {
        const span = spans.get(lane);
        if (span) span.end = xs[i];
        else spans.set(lane, { lane, x: xs[i], end: xs[i], track: 0, hue: hueOf(lane), next: Infinity });
      }
      if (row.kind === 'turn') open.set(row.turn, this.turns.push({ x: xs[i], end: null, lane, turn: row.turn, status: '' }) - 1);
      else if (row.kind === 'end' && row.turn) {
        const at = open.get(row.turn);
        if (at === undefined) this.turns.push({ x: 0, end: xs[i], lane, turn: row.turn, status: row.status });
        else Object.assign(this.turns[at], { end: xs[i], status: row.status });
      }
    }
    const ends = [];
    const newest = [];
    for (const span of [...spans.values()].sort((a, b) => a.x - b.x)) {
      let track = ends.findIndex((end) => end + LANE_MARGIN < span.x);
      if (track < 0) track = ends.length;
      ends[track] = span.end;
      if (newest[track]) newest[track].next = span.x;
      newest[track] = span;
      span.track = track + 1;
    }
    this.lanes = spans;
    this.tracks = ends.length + 1;
  }
}

export function hueOf(lane) {
  let hash = 7;
  for (let i = 0; i < lane.length; i++) hash = (hash * 31 + lane.charCodeAt(i)) >>> 0;
  return hash % 10;
}
