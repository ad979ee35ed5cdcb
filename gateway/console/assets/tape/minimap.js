// The whole tape in a few hundred bars; a slider that moves the play head over it.

import { make, svg } from '../dom.js';
import { t } from '../words.js';
import { hueOf } from './strip.js';

const WIDTH = 960;
const HEIGHT = 46;
const FEW = 12; // bins of a short tape, of which one failure shall not fill one
const MAX_LINES = 120; // bins with chapters; with more, their number is drawn, not a line each
const CHAPTER = 14;
const TRACKS = 4; // tracks for conversations, at the foot
const TRACK = 2;
const LEGEND = ['density', 'answers', 'failed', 'chapters', 'head'];

export class Minimap {
  element;
  #bins = [];
  #size = 0;
  #at = 0;
  #bars = svg('g');
  #tracks = svg('g');
  #lanes = [];
  #held = false; // the pointer has the head
  #head = make('div', { class: 'map-place' });
  legend = make('ul', { class: 'map-legend', 'aria-label': t('tape.legend') }, LEGEND.map((name) => make('li', { class: `legend-${name}` }, t(`tape.legend.${name}`))));
  #seek;

  // `seek(id)` hears where the visitor wants to go.
  constructor(seek) {
    this.#seek = seek;
    this.element = make('div', {
      class: 'map', role: 'slider', tabindex: '0', 'aria-label': t('tape.map'), 'aria-valuemin': '1', 'aria-valuemax': '1', 'aria-valuenow': '1',
      onpointerdown: (event) => this.#drag(event), onpointermove: (event) => { if (event.buttons) this.#drag(event); }, onlostpointercapture: () => { this.#held = false; },
      onkeydown: (event) => this.#key(event),
    }, svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, this.#bars, this.#tracks), this.#head);
  }

  take({ bins, size }) {
    this.#bins = bins;
    this.#size = size;
    this.element.setAttribute('aria-valuemax', String(Math.max(1, size)));
    const step = WIDTH / Math.max(1, bins.length);
    const rates = bins.map(([, , from, to, entries]) => Math.log2(1 + entries / Math.max(0.25, (Date.parse(to) - Date.parse(from)) / 3.6e6)));
    const most = Math.max(1, ...rates);
    const worst = Math.max(bins.length < FEW ? 0.25 : 0.02, ...bins.map(([, , , , entries, , , lost, refused]) => (lost + refused) / entries));
    const cuts = bins.map((bin) => bin[10]);
    const dense = cuts.filter(Boolean).length > MAX_LINES ? Math.max(...cuts) : 0;
    let [density, answers, failed, chapters] = ['', '', '', ''];
    bins.forEach(([, , , , entries, , answered, lost, refused, , anchors], i) => {
      const high = 4 + (HEIGHT - 14) * (rates[i] / most);
      const bar = (part) => `M${(i * step).toFixed(1)} ${HEIGHT}v${(-part).toFixed(1)}h${Math.max(0.6, step - 0.4).toFixed(1)}V${HEIGHT}z`;
      density += bar(high);
      if (answered) answers += bar(high * Math.min(1, (answered * 6) / entries));
      const bad = (lost + refused) / entries;
      if (bad) failed += `M${(i * step).toFixed(1)} 0h${Math.max(1.5, step - 0.4).toFixed(1)}v${Math.max(1, (9 * bad) / worst).toFixed(1)}h${(-Math.max(1.5, step - 0.4)).toFixed(1)}z`;
      if (anchors) chapters += `M${(i * step).toFixed(1)} 6v${dense ? ((CHAPTER * anchors) / dense).toFixed(1) : HEIGHT - 6}`;
    });
    this.#bars.replaceChildren(
      svg('path', { class: 'map-density', d: density }), svg('path', { class: 'map-answers', d: answers }),
      svg('path', { class: 'map-chapters', d: chapters }), svg('path', { class: 'map-failed', d: failed }));
    this.#weave();
    this.show(this.#at, this.element.getAttribute('aria-valuetext') ?? '');
  }

  // Take the busiest conversations: lists of lane, number of entries, first and last id.
  takeLanes(lanes) {
    this.#lanes = lanes.toSorted((a, b) => a[2] - b[2]);
    this.#weave();
  }

  // Draw conversations as tracks, as far as they have room.
  #weave() {
    const ends = new Array(TRACKS).fill(-1);
    const paths = new Map();
    for (const [lane, , first, last] of this.#bins.length ? this.#lanes : []) {
      const x = WIDTH * this.#shareOf(first);
      const track = ends.findIndex((end) => end < x);
      if (track < 0) continue;
      ends[track] = Math.max(x + 1.5, WIDTH * this.#shareOf(last)) + 1;
      const hue = hueOf(lane);
      paths.set(hue, `${paths.get(hue) ?? ''}M${x.toFixed(1)} ${HEIGHT - 1 - TRACK * track}H${(ends[track] - 1).toFixed(1)}`);
    }
    this.#tracks.replaceChildren(...[...paths].map(([hue, d]) => svg('path', { class: `map-lane hue-${hue}`, d })));
  }

  // Move the head to an entry.
  show(id, text) {
    this.place(id);
    this.element.setAttribute('aria-valuenow', String(Math.max(1, id)));
    this.element.setAttribute('aria-valuetext', text);
  }

  // The same without words, for every frame of a movement: only the head is painted again.
  place(id) {
    if (!this.#held) this.#put(id);
  }

  #put(id) {
    this.#at = id;
    this.#head.style.transform = `translateX(${(100 * this.#shareOf(id)).toFixed(3)}%)`;
  }

  #shareOf(id) {
    const bins = this.#bins;
    if (!bins.length) return 0;
    let i = bins.findIndex(([, last]) => id <= last);
    if (i < 0) i = bins.length - 1;
    const [first, last] = bins[i];
    const within = last > first ? Math.min(1, Math.max(0, (id - first) / (last - first))) : 0.5;
    return (i + within) / bins.length;
  }

  #drag(event) {
    if (!this.#bins.length) return;
    event.preventDefault();
    this.element.focus();
    this.element.setPointerCapture(event.pointerId);
    this.#held = true;
    const box = this.element.getBoundingClientRect();
    const share = Math.min(0.9999, Math.max(0, (event.clientX - box.left) / box.width));
    const place = share * this.#bins.length;
    const [first, last] = this.#bins[Math.floor(place)];
    this.#go(Math.round(first + (place % 1) * (last - first)));
  }

  // The head is there at once; what is there may take a moment.
  #go(id) {
    this.#put(id);
    this.#seek(id);
  }

  #key(event) {
    const part = Math.max(1, Math.round(this.#size / 100));
    const by = { ArrowLeft: -part, ArrowDown: -part, ArrowRight: part, ArrowUp: part, PageDown: -10 * part, PageUp: 10 * part }[event.key];
    const to = event.key === 'Home' ? 1 : event.key === 'End' ? this.#size : by && this.#at + by;
    if (!to || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.#go(Math.min(this.#size, Math.max(1, to)));
  }
}
