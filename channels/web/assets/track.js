// What stands beside the messages: splices where the tape was cut, and a thin track for each
// conversation, so that two in one room can be told apart.

import { clock, make } from './parts.js';
import { t } from './words.js';

const MAX_COLUMNS = 4;
const WORDS = {
  reset: () => t('Started over: earlier messages stay on the tape, out of sight'),
  rewind: ({ title }) => (title ? t('Went back to {0}', title) : t('Went back to an earlier checkpoint')),
  aside: () => t('Earlier messages were set aside to make room'),
  checkpoint: ({ title }) => t('Checkpoint: {0}', title),
};

export class Track {
  #lanes = new Map();   // message id -> lane
  #splices = new Map(); // id -> { kind, title, date, element }
  #names = new Map();   // lane -> its number, by arrival

  // Take what the gateway knows, the whole or the newest of it; return whether anything changed.
  take({ lanes, splices }, isWhole) {
    let isNew = isWhole && this.#splices.size > 0;
    if (isWhole) this.#splices.clear(); // an erased title is gone
    for (const [id, lane] of Object.entries(lanes)) {
      isNew ||= this.#lanes.get(id) !== lane;
      this.#lanes.set(id, lane);
    }
    for (const splice of splices) {
      if (this.#splices.has(splice.id)) continue;
      isNew = true;
      this.#splices.set(splice.id, { ...splice, element: spliceOf(splice) });
    }
    return isNew;
  }

  // An answer belongs where its question does.
  laneOf(message) { return this.#lanes.get(message.id) ?? this.#lanes.get(message.reply_to) ?? null; }

  // The splices between two dates, in order.
  between(from, to) {
    return [...this.#splices.values()].filter(({ date }) => date > from && date <= to).map(({ element }) => element);
  }

  // Draw the tracks beside messages, given in order as { message, element }. One conversation needs none.
  draw(entries) {
    const spans = new Map();
    entries.forEach(({ message }, i) => {
      const lane = this.laneOf(message);
      if (lane === null) return;
      if (!spans.has(lane)) spans.set(lane, { lane, first: i, last: i });
      spans.get(lane).last = i;
      if (!this.#names.has(lane)) this.#names.set(lane, this.#names.size + 1);
    });
    const several = spans.size > 1;
    const columns = [];
    for (const span of several ? spans.values() : []) {
      const free = columns.findIndex((end) => end < span.first);
      span.column = free < 0 ? columns.length : free;
      columns[span.column] = span.last;
    }
    entries.forEach(({ message, element }, i) => {
      const open = several ? [...spans.values()].filter(({ first, last, column }) => first <= i && i <= last && column < MAX_COLUMNS) : [];
      const own = this.laneOf(message);
      const key = open.map(({ lane, column, first, last }) => [this.#names.get(lane), column, i === first, i === last, lane === own].join('.')).join(' ');
      if ((element.dataset.tracks ?? '') === key) return;
      element.dataset.tracks = key;
      element.querySelector(':scope > .tracks')?.remove();
      if (!open.length) return;
      const box = make('span', 'tracks');
      for (const { lane, column, first, last } of open) {
        const line = make('i', `hue-${(this.#names.get(lane) * 3) % 10}`);
        line.dataset.column = column;
        line.toggleAttribute('data-first', i === first);
        line.toggleAttribute('data-last', i === last);
        line.toggleAttribute('data-own', lane === own);
        box.append(line);
      }
      if (own !== null) box.append(make('span', 'sr-only', t('Conversation {0}', this.#names.get(own))));
      element.querySelector(':scope > .node').after(box);
    });
  }
}

function spliceOf(splice) {
  const element = make('p', 'day splice');
  const date = new Date(splice.date);
  const when = make('time', 'when', clock.format(date));
  when.dateTime = date.toISOString();
  element.append(make('span', '', WORDS[splice.kind](splice)), ' ', when);
  return element;
}
