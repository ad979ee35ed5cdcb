// The deck: a strip for each chat, like reels on a shelf, sorted by what needs the visitor.

import { make, odometer, reel } from '../dom.js';
import { follow, section } from '../screen.js';
import { spark } from '../svg.js';
import { addWords, money, number, short, t, when } from '../words.js';

addWords({
  en: {
    'deck.title': 'Deck', 'deck.empty': 'No chat has said anything yet.', 'deck.more': '{0} more chat, which is quiet, is not shown.|{0} more chats, which are quiet, are not shown.',
    'deck.stalled': 'stalled since {0}', 'deck.failed': '{0} failed', 'deck.held': '{0} held', 'deck.waiting': '{0} waiting',
    'deck.running': 'answering', 'deck.quiet': 'quiet', 'deck.tokens': '{0} tokens today', 'deck.cost': 'cost {0}',
    'deck.spark': '{0} entry in 24 hours|{0} entries in 24 hours', 'deck.closed': 'Opening this private chat is recorded.',
    'deck.nothing': 'Nothing to show.', 'deck.unit': 'tokens today',
  },
  zh: {
    'deck.title': '总览', 'deck.empty': '还没有任何聊天消息。', 'deck.more': '另有 {0} 个安静的聊天未显示。',
    'deck.stalled': '自 {0} 起停滞', 'deck.failed': '{0} 条失败', 'deck.held': '{0} 条保留', 'deck.waiting': '{0} 条等待',
    'deck.running': '正在回答', 'deck.quiet': '安静', 'deck.tokens': '今日 {0} 个词元', 'deck.cost': '费用 {0}',
    'deck.spark': '24 小时内 {0} 条记录', 'deck.closed': '打开此私聊会被记录。',
    'deck.nothing': '没有可显示的消息。', 'deck.unit': '今日词元',
  },
});

export const title = () => t('deck.title');

export function mount(root) {
  const { root: place, note } = section(t('deck.title'), 'deck');
  const shelf = make('ul', { class: 'shelf', 'aria-label': t('deck.title') });
  const more = make('p', { class: 'more' });
  place.append(shelf, more);
  root.append(place);

  function draw({ chats, total }) {
    const focused = document.activeElement?.closest?.('[data-chat]')?.dataset.chat;
    shelf.replaceChildren(...chats.map(strip));
    if (focused) shelf.querySelector(`[data-chat="${focused}"] a`)?.focus({ preventScroll: true });
    more.textContent = total > chats.length ? t('deck.more', total - chats.length) : total ? '' : t('deck.empty');
  }

  return follow({ path: () => 'deck', draw, note, topics: ['chat', 'ledger', 'channels'] }).end;
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
      make('span', {}, odometer(short(chat.tokens), t('deck.tokens', number(chat.tokens))), ' ', make('span', { class: 'unit', 'aria-hidden': 'true' }, t('deck.unit'))),
      make('span', { class: 'cost' }, t('deck.cost', money(chat.cost)))));
}

function last({ last: said, private: isPrivate }) {
  if (!said) return make('p', { class: 'strip-last none' }, t(isPrivate ? 'deck.closed' : 'deck.nothing'));
  return make('p', { class: `strip-last ${said.agent ? 'agent' : ''}` },
    said.agent ? null : make('bdi', { class: 'who' }, said.name), said.agent ? null : ' ', make('q', {}, said.text));
}
