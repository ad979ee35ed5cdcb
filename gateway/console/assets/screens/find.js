// Find a message, whose explanation says why it was answered, or why not.

import { get } from '../api.js';
import { Changes } from '../changes.js';
import { make } from '../dom.js';
import { follow, section } from '../screen.js';
import { addWords, t, whenExactly } from '../words.js';
import { statusLamp } from './statuses.js';

addWords({
  en: {
    'find.title': 'Why was a message answered, or not?', 'find.about': 'Choose a message: you see what became of it, which conversation it belongs to, what the model was shown, and what the answer cost. Choosing a private chat opens it, which is recorded.',
    'find.words': 'Words', 'find.chat': 'Chat', 'find.every': 'all open to you', 'find.person': 'From', 'find.until': 'Up to', 'find.unanswered': 'Only those not answered', 'find.go': 'Find',
    'find.and': ', ', 'find.skipped': 'Not searched, since it takes too long just now: {0}.', 'find.list': 'Messages, newest first', 'find.none': 'No such message was found.', 'find.no-text': '(text not shown: refused, deleted or erased)', 'find.answer': 'Answer:',
  },
  zh: {
    'find.title': '消息为何得到或没有得到回答？', 'find.about': '选择一条消息：可以看到它的结果、所属对话、模型看到的内容以及回答的费用。选择私聊即为打开它，会被记录。',
    'find.words': '文字', 'find.chat': '聊天', 'find.every': '所有可见聊天', 'find.person': '发送者', 'find.until': '截至', 'find.unanswered': '仅未回答的', 'find.go': '查找',
    'find.and': '、', 'find.skipped': '现在搜索太慢，未搜索：{0}。', 'find.list': '消息，最新在前', 'find.none': '没有找到这样的消息。', 'find.no-text': '（内容不予显示：已被拒绝、删除或抹除）', 'find.answer': '回答：',
  },
});

const MINUTE = 60_000;
const SEARCH_REST = 5000; // milliseconds at least from one search for words to the next that changes ask for

export const title = () => t('nav.why');

export function mount(root, { chat = '' }) {
  const { root: place, note } = section(t('find.title'), 'find');
  const input = (name, type) => make('input', { id: `find-${name}`, type, autocomplete: 'off' });
  const [words, person, until, unanswered] = [input('words', 'search'), input('person', 'text'), input('until', 'datetime-local'), input('unanswered', 'checkbox')];
  const chats = make('select', { id: 'find-chat' }, make('option', { value: '' }, t('find.every')));
  const field = (text, control) => make('p', { class: 'field' }, make('label', { for: control.id }, text), control);
  const list = make('ul', { class: 'rows', 'aria-label': t('find.list') });
  place.append(make('p', { class: 'more' }, t('find.about')),
    make('form', { class: 'fields', role: 'search', onsubmit: (event) => { event.preventDefault(); look(); } },
      field(t('find.words'), words), field(t('find.chat'), chats), field(t('find.person'), person), field(t('find.until'), until),
      make('p', { class: 'field check' }, unanswered, make('label', { for: unanswered.id }, t('find.unanswered'))),
      make('button', { class: 'button' }, t('find.go'))),
    list);
  chats.addEventListener('change', () => { chat = ''; });
  for (const control of [chats, until, unanswered]) control.addEventListener('change', look);
  root.append(place);
  const ends = new AbortController();
  get('chats', { signal: ends.signal }).then((found) => {
    chats.append(...found.chats.map((one) => make('option', { value: one.chat, selected: one.chat === chat }, one.private ? `${one.title} (${t('private')})` : one.title)));
  }, () => {});

  // What was entered last is looked for, not what is being typed.
  function entered() {
    const asked = { q: words.value, person: person.value, chat: chats.value || chat, unanswered: unanswered.checked ? '1' : '' };
    // All of the minute that was chosen.
    if (until.value) asked.until = new Date(Date.parse(until.value) + MINUTE).toISOString();
    return asked;
  }

  function look() {
    asked = entered();
    followed.refresh();
  }

  function path() {
    return `messages?${new URLSearchParams(Object.entries(asked).filter(([, value]) => value))}`;
  }

  // What was found in a chat may be deleted, edited or erased since.
  function watch(chat) {
    const changes = new Changes(chat, ends.signal, () => { if (chat in sizes) followed.hear(); });
    watched.add(chat);
    changes.begin(sizes[chat]);
    changes.look();
    changes.follow(chat);
  }

  function draw({ messages, skipped, sizes: found }) {
    sizes = found;
    for (const one of Object.keys(sizes)) if (!watched.has(one)) watch(one);
    const focused = document.activeElement?.closest?.('[data-message]')?.dataset.message;
    list.replaceChildren(...messages.map(rowOf));
    if (focused) list.querySelector(`[data-message="${focused}"] a`)?.focus({ preventScroll: true });
    const says = [messages.length ? '' : t('find.none'), skipped.length ? t('find.skipped', skipped.join(t('find.and'))) : ''];
    note.textContent = says.filter(Boolean).join(' ');
  }

  let asked = entered();
  let sizes = {}; // the chats in which words were found, and how many entries they had
  const watched = new Set();
  // A search for words costs too much to be made again whenever somebody writes.
  const followed = follow({
    path, draw, note, topics: ['chat', 'ledger'], heeds: () => !asked.q, restOf: () => (asked.q ? SEARCH_REST : 0),
  });
  return () => { ends.abort(); followed.end(); };
}

function rowOf(one) {
  return make('li', { class: 'row plain found', 'data-message': one.id },
    make('div', { class: 'row-main' },
      make('p', { class: 'row-about' }, whenExactly(one.at), ' · ', make('bdi', {}, one.title), ` · ${one.channel}`),
      make('p', { class: 'row-head' }, make('a', { href: `#/why/inbox/${one.id}` },
        one.name ? make('bdi', { class: 'who' }, one.name) : null, one.name ? (one.text ? ': ' : ' ') : null, one.text || make('i', { class: 'no-text' }, t('find.no-text')))),
      one.answer ? make('p', { class: 'row-text' }, `${t('find.answer')} ${one.answer}`) : null),
    statusLamp(one.status));
}
