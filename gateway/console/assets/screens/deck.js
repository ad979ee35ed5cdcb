// The deck: a strip for each chat, like reels on a shelf, sorted by what needs the visitor.

import { post } from '../api.js';
import { announce, make, reel } from '../dom.js';
import { follow, section } from '../screen.js';
import { spark } from '../svg.js';
import { addWords, money, number, short, t, when } from '../words.js';

addWords({
  en: {
    'deck.title': 'Chats', 'deck.empty': 'No chat has said anything yet.', 'deck.part': 'Chats {0} to {1} of {2}: what needs you comes first, then what was heard last.', 'deck.next': 'Next chats', 'deck.back': 'Chats before',
    'deck.stalled': 'stalled since {0}', 'deck.failed': '{0} failed', 'deck.held': '{0} held', 'deck.waiting': '{0} waiting',
    'deck.running': 'answering', 'deck.quiet': 'quiet', 'deck.tokens': '{0} tokens today', 'deck.cost': 'cost {0}',
    'deck.spark': '{0} entry in 24 hours|{0} entries in 24 hours', 'deck.closed': 'Opening this private chat is recorded.',
    'deck.nothing': 'Nothing to show.',
    'deck.closed.chat': 'Closed: the agent answers nobody here until you open it.', 'deck.wants': 'waits to be opened', 'deck.open': 'Open this chat', 'deck.opened': 'The agent now answers in {0}.', 'deck.close': 'Close it again', 'deck.shut': '{0} is closed again.',
  },
  zh: {
    'deck.title': '聊天', 'deck.empty': '还没有任何聊天消息。', 'deck.part': '第 {0} 至 {1} 个聊天，共 {2} 个：需要您处理的在前，其次是最近有消息的。', 'deck.next': '后面的聊天', 'deck.back': '前面的聊天',
    'deck.stalled': '自 {0} 起停滞', 'deck.failed': '{0} 条失败', 'deck.held': '{0} 条保留', 'deck.waiting': '{0} 条等待',
    'deck.running': '正在回答', 'deck.quiet': '安静', 'deck.tokens': '今日 {0} 个词元', 'deck.cost': '费用 {0}',
    'deck.spark': '24 小时内 {0} 条记录', 'deck.closed': '打开此私聊会被记录。',
    'deck.nothing': '没有可显示的消息。',
    'deck.closed.chat': '已关闭：在您开放之前，助手不会在此回答任何人。', 'deck.wants': '等待开放', 'deck.open': '开放此聊天', 'deck.opened': '助手现在会在 {0} 中回答。', 'deck.close': '重新关闭', 'deck.shut': '{0} 已重新关闭。',
  },
});

const REST_A_CHAT = 100; // milliseconds: a strip costs the gateway about one, and its answers go first

export const title = () => t('deck.title');
const pathOf = (chat) => (chat ? `deck?at=${encodeURIComponent(chat)}` : 'deck');
export const needs = ({ chat }) => [pathOf(chat)];

// `chat` is the one that somebody comes back from.
export function mount(root, { chat: from = '' } = {}) {
  const { root: place, note } = section(t('deck.title'), 'deck');
  const shelf = make('ul', { class: 'shelf', 'aria-label': t('deck.title') });
  const more = make('div', { class: 'more', role: 'group' });
  let path = pathOf(from);
  const done = make('p', { class: 'done', role: 'status' });
  place.append(shelf, more, done);
  root.append(place);

  function say(sentence, ...more) {
    done.replaceChildren(sentence, ...more);
    announce(sentence);
  }

  // A chat that waits to be opened is opened here, and closed again.
  function closed(one) {
    const [channel, account = ''] = one.account_id.split(':');
    const name = one.title || one.chat_id;
    const who = { who: `${channel}:${one.chat_id}`, account };
    const change = (path, values, said) => async (event) => {
      event.currentTarget.disabled = true;
      try {
        await post(path, values);
        from = one.chat;
        said();
      } catch (cause) { say(cause.message); }
      followed.refresh();
    };
    const next = (key, run) => make('button', { type: 'button', class: 'done-back', onclick: run }, t(key));
    const shut = change('people/revoke', who, () => say(t('deck.shut', name), ' ', next('deck.open', open)));
    const open = change('people/grant', { ...who, role: 'member' }, () => say(t('deck.opened', name), ' ', next('deck.close', shut)));
    return make('li', { class: 'strip wants', 'data-lamp': 'waiting', 'data-chat': one.chat || null }, reel(),
      make('div', { class: 'strip-main' }, make('h2', {}, one.chat ? make('a', { href: `#/tape/${one.chat}` }, make('bdi', {}, name)) : make('bdi', {}, name)), make('p', { class: 'strip-about' }, make('span', { class: 'channel' }, channel)),
        make('p', { class: 'strip-last none' }, t('deck.closed.chat'))),
      make('p', { class: 'lamp' }, t('deck.wants')),
      make('p', { class: 'strip-open' }, make('button', { type: 'button', class: 'button', 'aria-label': `${t('deck.open')}: ${name}`, onclick: open }, t('deck.open'))));
  }

  function go(first) {
    path = `deck?from=${Math.max(0, first)}`;
    scrollTo({ top: 0 });
    followed.refresh();
  }

  function draw({ chats, total, waiting, from: first, page, agent }) {
    const focused = document.activeElement?.closest?.('[data-chat]')?.dataset.chat;
    shelf.replaceChildren(...waiting.map(closed), ...chats.map((chat) => strip(chat, agent)));
    const of = (chat) => [...shelf.children].filter((one) => one.dataset.chat === chat);
    const back = from && of(from).find((one) => !one.classList.contains('wants'))?.querySelector('a');
    if (back) {
      back.focus({ preventScroll: true });
      back.closest('li').scrollIntoView({ block: 'center' });
    } else if (focused) of(focused)[0]?.querySelector('a')?.focus({ preventScroll: true });
    // What somebody came back to is shown; from now on, the place is.
    if (path.startsWith('deck?at')) path = first ? `deck?from=${first}` : 'deck';
    const button = (key, to, shown) => (shown ? make('button', { class: 'quiet', type: 'button', 'data-to': key, onclick: () => go(to) }, t(key)) : '');
    const held = document.activeElement?.closest?.('[data-to]')?.dataset.to;
    more.replaceChildren(...(total > chats.length
      ? [make('p', {}, t('deck.part', number(first + 1), number(first + chats.length), number(total))), button('deck.back', first - page, first > 0), ' ', button('deck.next', first + page, first + chats.length < total)]
      : [total ? '' : t('deck.empty')]));
    if (held) (more.querySelector(`[data-to="${held}"]`) ?? more.querySelector('button'))?.focus({ preventScroll: true });
  }

  shelf.addEventListener('focusin', () => { from = ''; });
  // The browser's way back leads to where somebody left.
  shelf.addEventListener('click', (event) => {
    const left = event.target.closest('a') && event.target.closest('[data-chat]')?.dataset.chat;
    if (left) history.replaceState(null, '', `#/deck/at/${left}`);
  });
  const followed = follow({ path: () => path, draw, note, topics: ['chat', 'ledger', 'channels'], restOf: ({ chats }) => chats.length * REST_A_CHAT });
  return followed.end;
}

function strip(chat, agent) {
  const counts = { stalled: when(chat.since), failed: chat.failed, held: chat.held, waiting: chat.waiting };
  return make('li', { class: 'strip', 'data-lamp': chat.lamp, 'data-chat': chat.chat },
    reel(chat.lamp === 'running' ? 'turning' : ''),
    make('div', { class: 'strip-main' },
      make('h2', {}, make('a', { href: `#/tape/${chat.chat}` }, make('bdi', {}, chat.title))),
      make('p', { class: 'strip-about' }, make('span', { class: 'channel' }, chat.channel), chat.private ? ` · ${t('private')}` : '', ` · ${when(chat.heard)}`),
      last(chat, agent)),
    make('p', { class: 'lamp' }, t(`deck.${chat.lamp}`, counts[chat.lamp])),
    chat.spark ? spark(chat.spark, t('deck.spark', chat.spark.reduce((sum, one) => sum + one, 0))) : null,
    make('p', { class: 'strip-used' },
      make('span', { title: t('deck.tokens', number(chat.tokens)) }, t('deck.tokens', short(chat.tokens))),
      make('span', { class: 'cost' }, chat.unpriced && chat.cost === null ? money(null, true) : t('deck.cost', money(chat.cost, chat.unpriced)))));
}

function last({ last: said, private: isPrivate }, agent) {
  if (!said) return make('p', { class: 'strip-last none' }, t(isPrivate ? 'deck.closed' : 'deck.nothing'));
  return make('p', { class: `strip-last ${said.agent ? 'agent' : ''}` },
    make('bdi', { class: 'who' }, said.agent ? agent : said.name), ' ', make('q', {}, said.text));
}
