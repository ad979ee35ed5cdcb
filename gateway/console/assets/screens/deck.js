// The deck: a strip for each chat, like reels on a shelf, sorted by what needs the visitor.

import { get } from '../api.js';
import { make, odometer, reel } from '../dom.js';
import { on } from '../live.js';
import { spark } from '../svg.js';
import { addWords, money, number, short, t, when } from '../words.js';

addWords({
  en: {
    'deck.title': 'Deck', 'deck.empty': 'No chat has said anything yet.', 'deck.more': '{0} more chat is quiet.|{0} more chats are quiet.',
    'deck.stalled': 'stalled since {0}', 'deck.failed': '{0} failed', 'deck.held': '{0} held', 'deck.waiting': '{0} waiting',
    'deck.running': 'answering', 'deck.quiet': 'quiet', 'deck.tokens': '{0} tokens today', 'deck.cost': '{0} today',
    'deck.spark': '{0} entry in 24 hours|{0} entries in 24 hours', 'deck.closed': 'A private chat: opening it is recorded.',
    'deck.nothing': 'Nothing that is shown.',
  },
  zh: {
    'deck.title': '总览', 'deck.empty': '还没有任何聊天消息。', 'deck.more': '另有 {0} 个安静的聊天。',
    'deck.stalled': '自 {0} 起停滞', 'deck.failed': '{0} 条失败', 'deck.held': '{0} 条保留', 'deck.waiting': '{0} 条等待',
    'deck.running': '正在回答', 'deck.quiet': '安静', 'deck.tokens': '今日 {0} 个词元', 'deck.cost': '今日 {0}',
    'deck.spark': '24 小时内 {0} 条记录', 'deck.closed': '私聊：打开会被记录。',
    'deck.nothing': '没有可显示的消息。',
  },
});

export const title = () => t('deck.title');

export function mount(root) {
  const shelf = make('ul', { class: 'shelf', 'aria-label': t('deck.title') });
  const more = make('p', { class: 'more' });
  const section = make('section', { class: 'column deck' }, make('h1', {}, t('deck.title')), shelf, more);
  root.append(section);
  const ends = new AbortController();
  let running = false;
  let again = false;

  // What changes while the gateway answers is asked for once more, and never twice at once.
  async function refresh() {
    if (running) { again = true; return; }
    running = true;
    do {
      again = false;
      try {
        draw(await get('deck', { signal: ends.signal }));
      } catch (cause) {
        if (cause.name === 'AbortError') return;
        if (!shelf.children.length) more.textContent = cause.message;
      }
    } while (again);
    running = false;
  }

  function draw({ chats, total }) {
    const focused = shelf.contains(document.activeElement) ? document.activeElement.closest('[data-chat]')?.dataset.chat : null;
    shelf.replaceChildren(...chats.map(strip));
    if (focused) shelf.querySelector(`[data-chat="${focused}"] a`)?.focus({ preventScroll: true });
    more.textContent = total > chats.length ? t('deck.more', total - chats.length) : total ? '' : t('deck.empty');
  }

  const off = ['chat', 'ledger', 'channels', 'all'].map((topic) => on(topic, refresh));
  refresh();
  return () => {
    off.forEach((end) => end());
    ends.abort();
  };
}

function strip(chat) {
  const counts = { stalled: when(chat.since), failed: chat.failed, held: chat.held, waiting: chat.waiting };
  return make('li', { class: 'strip', 'data-lamp': chat.lamp, 'data-chat': chat.chat },
    reel(chat.lamp === 'running' ? 'turning' : ''),
    make('div', { class: 'strip-main' },
      make('h2', {}, make('a', { href: `#/tape/${chat.chat}` }, make('bdi', {}, chat.title))),
      make('p', { class: 'strip-about' }, make('span', { class: 'channel' }, chat.channel), chat.private ? ` · ${t('private')}` : '', ` · ${when(chat.heard)}`),
      last(chat)),
    make('p', { class: 'lamp' }, t(`deck.${chat.lamp}`, counts[chat.lamp])),
    chat.spark ? spark(chat.spark, t('deck.spark', chat.spark.reduce((sum, one) => sum + one, 0))) : null,
    make('p', { class: 'strip-used' },
      odometer(short(chat.tokens), t('deck.tokens', number(chat.tokens))),
      make('span', { class: 'cost', title: t('deck.cost', money(chat.cost)) }, money(chat.cost))));
}

function last({ last: said, private: isPrivate }) {
  if (!said) return make('p', { class: 'strip-last none' }, t(isPrivate ? 'deck.closed' : 'deck.nothing'));
  return make('p', { class: `strip-last ${said.agent ? 'agent' : ''}` },
    said.agent ? null : make('bdi', { class: 'who' }, said.name), said.agent ? null : ' ', make('q', {}, said.text));
}
