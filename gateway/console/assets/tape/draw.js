// Draw the loaded part of a tape on a canvas: tracks, turns, messages, notches, silences, chapters.

import { locale, t, when } from '../words.js';

const RULER = 26;
const FLAGS = 18;
const FOOT = 8;
const MAX_TRACK = 30;
const LABEL_EVERY = 110;
const NAMED_TRACK = 22; // pixels of a track from which there is room for its name
const MAX_NAME = 280;
const MAX_WIDTHS = 2000;
const BEFORE = 40;         // pixels beside the ends of a tape
const BEHIND = 230;        // of which the last conversation's name has some
const COLOURS = ['head', 'splice', 'ink', 'ink-2', 'ink-3', 'line', 'line-strong', 'surface', 'ground', 'inset', 'accent', 'tape', 'tape-sheen', 'record', 'amber', 'sans',
  ...Array.from({ length: 10 }, (_, i) => `hue-${i}`)];
const FORCED = { head: 'LinkText', splice: 'Canvas', ground: 'Canvas', surface: 'Canvas', inset: 'Canvas', accent: 'Highlight', record: 'Highlight' };

export class Drawing {
  #canvas;
  #context;
  #colours = {};
  #media = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((one) => matchMedia(one));
  #onChange;
  #widths = new Map(); // text -> pixels
  width = 0;
  height = 0;

  constructor(canvas, onChange) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d', { alpha: false });
    this.#onChange = () => { this.#readColours(); onChange(); };
    this.#media.forEach((one) => one.addEventListener('change', this.#onChange));
    this.#readColours();
  }

  end() { this.#media.forEach((one) => one.removeEventListener('change', this.#onChange)); }

  // Take the size that the page gives the canvas; return whether it is another one, which empties it.
  resize() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [width, height] = [this.#canvas.clientWidth, this.#canvas.clientHeight];
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (across === this.#canvas.width && down === this.#canvas.height && this.width) return false;
    Object.assign(this, { width, height });
    Object.assign(this.#canvas, { width: across, height: down });
    this.#context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return true;
  }

  // The pixels over which a short tape is spread.
  get room() { return Math.max(0, this.width - BEFORE - this.#behind); }

  get #behind() { return Math.min(BEHIND, this.width / 5); }

  // The place of the window's left edge: the play head is in the middle, save where the tape ends.
  leftOf(strip, head) {
    const most = strip.last >= strip.size ? strip.width + this.#behind - this.width : Infinity;
    const left = Math.min(most, head - this.width / 2);
    return strip.first <= 1 ? Math.max(-BEFORE, left) : left;
  }

  #readColours() {
    const style = getComputedStyle(document.documentElement);
    const forced = this.#media[1].matches;
    for (const name of COLOURS) {
      this.#colours[name] = forced && name !== 'sans' ? FORCED[name] ?? 'CanvasText' : style.getPropertyValue(`--${name}`).trim();
    }
  }

  // Draw the strip with the play head at the position `head`; `names` are those of lanes.
  draw(strip, head, selected, names) {
    const { width, height } = this;
    const pen = this.#context;
    const c = this.#colours;
    const left = this.leftOf(strip, head);
    const first = Math.max(0, strip.indexAt(left - 20) - 1);
    const end = Math.min(strip.rows.length, strip.indexAt(left + width + 20) + 1);
    const room = height - RULER - FLAGS - FOOT;
    const track = Math.min(MAX_TRACK, room / strip.tracks);
    const named = track >= NAMED_TRACK; // then, the upper part of a track has its name
    const y = (at) => RULER + FLAGS + (at + (named ? 0.68 : 0.5)) * track;
    const trackOf = (lane) => (lane === null ? 0 : strip.lanes.get(lane)?.track ?? 0);
    const hue = (lane) => (lane === null ? c.tape : c[`hue-${strip.lanes.get(lane)?.hue ?? 0}`]);
    pen.fillStyle = c.surface;
    pen.fillRect(0, 0, width, height);
    this.#ruler(strip, left, first, end);
    // The tape itself, and a track for each lane while it is in use.
    pen.lineCap = 'round';
    pen.strokeStyle = c.line;
    pen.lineWidth = Math.max(1, Math.min(4, track / 6));
    line(pen, Math.max(0, -left), y(0), Math.min(width, strip.width - left), y(0));
    for (const [lane, span] of strip.lanes) {
      if (span.end < left || span.x > left + width) continue;
      pen.strokeStyle = hue(lane);
      pen.globalAlpha = 0.45;
      line(pen, Math.max(-4, span.x - left), y(span.track), Math.min(width + 4, span.end - left), y(span.track));
      pen.globalAlpha = 1;
    }
    this.#silences(strip, left, room);
    if (named) this.#names(strip, left, names, (at) => RULER + FLAGS + at * track + 10, hue);
    this.#turns(strip, left, named ? track * 0.75 : track, y, trackOf, hue);
    for (let i = first; i < end; i++) this.#mark(strip, i, left, named ? track * 0.75 : track, y, trackOf, hue);
    this.#head(strip, left, head, selected, y, trackOf);
  }

  // Who began each conversation and with which words, where its track begins or the window does.
  #names(strip, left, names, y, hue) {
    const pen = this.#context;
    pen.font = `11px ${this.#colours.sans}`;
    pen.textAlign = 'left';
    for (const [lane, span] of strip.lanes) {
      const name = names.get(lane);
      if (!name || span.end < left || span.x > left + this.width) continue;
      const x = Math.max(6, span.x - left - 4);
      const room = Math.min(MAX_NAME, span.next - left - 8 - x);
      if (room < 30) continue;
      const wide = this.#widthOf(name);
      pen.fillStyle = hue(lane);
      pen.fillText(wide <= room ? name : `${name.slice(0, Math.floor((name.length * room) / wide) - 1)}…`, x, y(span.track));
    }
  }

  #widthOf(text) {
    if (!this.#widths.has(text)) {
      if (this.#widths.size >= MAX_WIDTHS) this.#widths.clear();
      this.#widths.set(text, this.#context.measureText(text).width);
    }
    return this.#widths.get(text);
  }

  #silences(strip, left, room) {
    const pen = this.#context;
    const c = this.#colours;
    pen.font = `12px ${c.sans}`;
    pen.textAlign = 'center';
    for (const one of strip.quiet) {
      const x = one.x - left;
      if (x + one.width < 0 || x > this.width) continue;
      pen.fillStyle = c.inset;
      pen.fillRect(x + 8, RULER, one.width - 16, this.height - RULER);
      pen.fillStyle = c['ink-2'];
      pen.save();
      pen.translate(x + one.width / 2 + 4, RULER + FLAGS + room / 2);
      pen.rotate(-Math.PI / 2);
      pen.fillText(quietText(one.seconds), 0, 0);
      pen.restore();
    }
  }

  #ruler(strip, left, first, end) {
    const pen = this.#context;
    const c = this.#colours;
    pen.font = `12px ${c.sans}`;
    pen.textAlign = 'left';
    pen.fillStyle = c['ink-3'];
    let free = -Infinity;
    let [day, last] = ['', ''];
    for (let i = first; i < end; i++) {
      const x = strip.xs[i] - left;
      if (x < free) continue;
      const { text: minute, date } = stamp(strip.rows[i]);
      const text = minute === last ? seconds(strip.rows[i]) : minute;
      last = minute;
      const label = date === day ? text : `${date}  ${text}`;
      pen.fillStyle = date === day ? c['ink-3'] : c.ink;
      const at = Math.max(0, x);
      pen.fillText(label, at + 4, 17);
      pen.fillStyle = c.line;
      pen.fillRect(x, 6, 1, RULER - 6);
      free = at + Math.max(LABEL_EVERY, this.#widthOf(label) + 16);
      day = date;
    }
  }

  #turns(strip, left, track, y, trackOf, hue) {
    const pen = this.#context;
    const c = this.#colours;
    const high = Math.max(3, track * 0.56);
    for (const turn of strip.turns) {
      const from = turn.x - left;
      const to = (turn.end ?? strip.width + 12) - left;
      if (to < 0 || from > this.width) continue;
      const failed = turn.status === 'failed' || turn.status === 'dead';
      const colour = failed ? c.record : hue(turn.lane);
      const top = y(trackOf(turn.lane)) - high / 2;
      pen.fillStyle = colour;
      pen.globalAlpha = 0.2;
      rounded(pen, from, top, Math.max(3, to - from), high);
      pen.fill();
      pen.globalAlpha = 0.85;
      pen.strokeStyle = colour;
      pen.lineWidth = 1;
      pen.setLineDash(turn.end === null ? [3, 3] : []);
      pen.stroke();
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    }
  }

  #mark(strip, i, left, track, y, trackOf, hue) {
    const pen = this.#context;
    const c = this.#colours;
    const row = strip.rows[i];
    const x = strip.xs[i] - left;
    const at = y(trackOf(row.on));
    const size = Math.max(2, Math.min(6, track * 0.28));
    if (row.kind === 'said' || row.kind === 'answer') {
      pen.beginPath();
      pen.arc(x, at, size, 0, 2 * Math.PI);
      pen.fillStyle = row.gone ? c.surface : row.kind === 'answer' ? c.ink : hue(row.on);
      pen.fill();
      if (row.gone || row.kind === 'answer') {
        pen.strokeStyle = row.gone ? c['ink-3'] : c.surface;
        pen.lineWidth = 1.5;
        pen.stroke();
      }
    } else if (row.kind === 'chapter') this.#chapter(row, x);
    else if (row.kind === 'refused' || row.kind === 'error') notch(pen, x, at - size - 2, size, c.record);
    else if (row.kind === 'reaction') notch(pen, x, at - size - 2, size, c.accent);
    else if (row.kind === 'edit') notch(pen, x, at - size - 2, size, c.amber);
    else if (row.kind === 'delete') notch(pen, x, at - size - 2, size, c['ink-3']);
    else if (row.kind === 'notice') ring(pen, x, at, size * 0.75, c.ink, c.surface);
    else if (row.kind === 'tool') {
      pen.fillStyle = hue(row.on);
      pen.fillRect(x, at - size, 1.5, size * 2);
    }
  }

  #chapter(row, x) {
    const pen = this.#context;
    const c = this.#colours;
    pen.fillStyle = c.tape;
    pen.fillRect(x - 1, RULER, 2, this.height - RULER);
    pen.font = `600 12px ${c.sans}`;
    pen.textAlign = 'left';
    const text = clipped(pen, titleOf(row), 170);
    const wide = pen.measureText(text).width + 12;
    pen.fillRect(x, RULER, wide, FLAGS - 1);
    pen.fillStyle = c.splice;
    pen.fillText(text, x + 6, RULER + 13);
  }

  #head(strip, left, head, selected, y, trackOf) {
    const pen = this.#context;
    const c = this.#colours;
    const x = head - left;
    // A knob on a line, as on the map: triangles are what was refused, failed or changed.
    pen.fillStyle = c.head;
    pen.fillRect(x - 1, RULER - 8, 2, this.height);
    pen.beginPath();
    pen.arc(x, RULER - 10, 6, 0, 2 * Math.PI);
    pen.fill();
    const i = strip.indexOf(selected);
    if (strip.rows[i]?.id !== selected) return;
    pen.beginPath();
    pen.arc(strip.xs[i] - left, y(trackOf(strip.rows[i].on)), 9, 0, 2 * Math.PI);
    pen.strokeStyle = c.head;
    pen.lineWidth = 2;
    pen.stroke();
  }
}

export function titleOf(row) {
  return row.text || t(`tape.cut.${row.cut ?? 'checkpoint'}`);
}

export function quietText(seconds) {
  const hours = seconds / 3600;
  if (hours < 1) return t('tape.quiet.minutes', Math.round(seconds / 60));
  return hours < 48 ? t('tape.quiet.hours', Math.round(hours)) : t('tape.quiet.days', Math.round(hours / 24));
}

function stamp(row) {
  if (row.stamp?.locale !== locale()) {
    const date = new Date(row.time);
    row.stamp = { locale: locale(), text: times(date), date: days(date), seconds: '' };
  }
  return row.stamp;
}

const made = new Map();
function formatted(date, shape) {
  const key = `${locale()} ${Object.keys(shape)}`;
  if (!made.has(key)) made.set(key, new Intl.DateTimeFormat(locale(), shape));
  return made.get(key).format(date);
}
const MINUTE = { hour: '2-digit', minute: '2-digit' };
const times = (date) => formatted(date, MINUTE);
const days = (date) => formatted(date, { month: 'short', day: 'numeric', year: '2-digit' });
export const moment = (row) => `${stamp(row).date} ${seconds(row)}`;
export const seconds = (row) => (stamp(row).seconds ||= formatted(new Date(row.time), { ...MINUTE, second: '2-digit' }));
export { when };

function line(pen, x, y, toX, toY) {
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(toX, toY);
  pen.stroke();
}

function rounded(pen, x, y, width, height) {
  pen.beginPath();
  pen.roundRect(x, y, width, height, Math.min(4, height / 2));
}

function notch(pen, x, y, size, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.moveTo(x - size, y - size);
  pen.lineTo(x + size, y - size);
  pen.lineTo(x, y + size * 0.6);
  pen.fill();
}

function ring(pen, x, y, size, colour, ground) {
  pen.beginPath();
  pen.arc(x, y, size, 0, 2 * Math.PI);
  pen.fillStyle = ground;
  pen.fill();
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.stroke();
}

function clipped(pen, text, most) {
  if (pen.measureText(text).width <= most) return text;
  let shown = text.slice(0, 40);
  while (shown && pen.measureText(`${shown}…`).width > most) shown = shown.slice(0, -1);
  return `${shown}…`;
}
