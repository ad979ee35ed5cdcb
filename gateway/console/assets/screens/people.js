// People: roles, who waits, what they used today, who opened private chats; granting and erasing.

import { get, post } from '../api.js';
import { announce, make, sure, table } from '../dom.js';
import { follow, section } from '../screen.js';
import { linksSection } from './links.js';
import { addWords, money, number, t, when } from '../words.js';

addWords({
  en: {
    'people.title': 'People', 'people.waiting': 'Chats that wait to be opened', 'people.rules': 'Who may do what', 'people.used': 'Used today', 'people.openings': 'Private chats that were opened here',
    'people.none': 'Nobody yet.', 'people.none.chats': 'No chat waits.', 'people.open': 'Open', 'people.revoke': 'Revoke', 'people.role.owner': 'owner', 'people.role.admin': 'admin', 'people.role.member': 'may talk to the agent', 'people.role.none': 'closed',
    'people.grant': 'Give access', 'people.pair': 'Make a pairing code', 'people.pair.title': 'Become an owner', 'people.pair.about': 'Whoever sends a pairing code to the agent in private becomes an owner of that account: they open chats and name admins.', 'people.pair.says': 'Whoever sends this code in private within ten minutes becomes an owner:', 'people.who': 'Person or chat, such as telegram:42 (who asked today can be chosen)', 'people.role': 'Role', 'people.give': 'Give', 'people.settings': 'set in the settings, and changed there',
    'people.person': 'Person', 'people.chat': 'Chat', 'people.turns': 'Questions', 'people.refused': 'Refused', 'people.tokens': 'Tokens', 'people.cost': 'Cost', 'people.limit': 'In each chat and on each day (UTC), a member may ask {0}, and a stranger {1}. A question counts when its answer begins, even if that fails.', 'people.answers': '{0} question|{0} questions',
    'people.unlimited': 'any number of questions', 'people.erase': 'Erase messages', 'people.erase.of': 'Erase messages of {0} in {1}', 'people.erase.title': 'Erase everything from {0} in {1}?',
    'people.erase.sentence': 'What this person wrote in this chat, and what quotes it, is taken out of the tape, the search and the ledger for good. This cannot be undone.',
    'people.erase.yes': 'Erase for good', 'people.erase.no': 'Keep', 'people.erase.done': 'Being erased.', 'people.erase.open': 'Being erased…', 'people.erase.ended': 'Erased: {0} entry.|Erased: {0} entries.',
    'people.opened': '{0} opened {1}, {2}', 'people.mode.open': 'Access is open to everybody.', 'people.account': 'Account (if there are several)',
    'people.sessions': 'Who is in the console', 'people.session': 'since {0}, until {1}', 'people.session.end': 'End', 'people.sessions.more': 'The {0} newest are shown.',
  },
  zh: {
    'people.title': '人员', 'people.waiting': '等待开放的聊天', 'people.rules': '权限', 'people.used': '今日使用', 'people.openings': '在此打开过的私聊',
    'people.none': '暂无。', 'people.none.chats': '没有等待开放的聊天。', 'people.open': '开放', 'people.revoke': '撤销', 'people.role.owner': '所有者', 'people.role.admin': '管理员', 'people.role.member': '可与助手对话', 'people.role.none': '已关闭',
    'people.grant': '授予权限', 'people.pair': '生成配对码', 'people.pair.title': '成为所有者', 'people.pair.about': '在私聊中把配对码发给助手的人将成为该账号的所有者：可以开放聊天并任命管理员。', 'people.pair.says': '十分钟内在私聊中发送此码的人将成为所有者：', 'people.who': '人员或聊天，例如 telegram:42（今天提过问的人可直接选择）', 'people.role': '角色', 'people.give': '授予', 'people.settings': '在设置中设定，请在设置中更改',
    'people.person': '人员', 'people.chat': '聊天', 'people.turns': '问题', 'people.refused': '被拒', 'people.tokens': '词元', 'people.cost': '费用', 'people.limit': '在每个聊天中，成员每天（UTC）可提{0}，陌生人可提{1}。回答开始时即计入，失败的也算。', 'people.answers': ' {0} 个问题',
    'people.unlimited': '不限数量的问题', 'people.erase': '清除消息', 'people.erase.of': '清除消息：{0}，{1}', 'people.erase.title': '清除 {0} 在 {1} 的全部内容？',
    'people.erase.sentence': '此人在该聊天中写下的内容及其引用将从磁带、搜索和账本中永久移除，无法恢复。',
    'people.erase.yes': '永久清除', 'people.erase.no': '保留', 'people.erase.done': '正在清除。', 'people.erase.open': '正在清除…', 'people.erase.ended': '已清除 {0} 条记录。',
    'people.opened': '{0} 打开了 {1}，{2}', 'people.mode.open': '所有人都可访问。', 'people.account': '账号（如有多个）',
    'people.sessions': '正在使用控制台的人', 'people.session': '{0} 起，至 {1}', 'people.session.end': '结束', 'people.sessions.more': '仅显示最新的 {0} 个。',
  },
});

const LOOK = 1500; // milliseconds between two looks at an erasure

export const title = () => t('people.title');

export function mount(root) {
  const { root: place, note } = section(t('people.title'), 'people');
  const done = make('p', { class: 'done', role: 'status' });
  const body = make('div');
  const links = linksSection();
  const pairing = pairingSection();
  place.append(done, body, pairing, grantForm(), links.element);
  root.append(place);
  let timer = 0;
  let left = false;

  async function act(path, values) {
    try {
      const found = await post(path, values);
      if (left) return found;
      say(found.done ?? '');
      followed.refresh();
      return found;
    } catch (cause) {
      if (!left) say(cause.message);
      return null;
    }
  }

  function say(sentence) {
    done.textContent = sentence;
    announce(sentence);
  }

  function grantForm() {
    const input = (id, text, list = null) => [make('label', { for: id }, text), make('input', { id, list, autocomplete: 'off', spellcheck: 'false' })];
    const role = make('select', { id: 'grant-role' }, ['member', 'admin', 'owner'].map((one) => make('option', { value: one }, t(`people.role.${one}`))));
    const form = make('form', { class: 'fields', id: 'grant', hidden: true, onsubmit: async (event) => {
      event.preventDefault();
      const value = (id) => form.querySelector(`#${id}`).value.trim();
      if (await act('people/grant', { who: value('grant-who'), role: role.value, account: value('grant-account') })) form.reset();
    } }, make('h2', {}, t('people.grant')), make('p', { class: 'field' }, input('grant-who', t('people.who'), 'grant-known'), make('datalist', { id: 'grant-known' })),
    make('p', { class: 'field' }, make('label', { for: role.id }, t('people.role')), role),
    make('p', { class: 'field' }, input('grant-account', t('people.account'))), make('button', { class: 'button' }, t('people.give')));
    return form;
  }

  const who = (row) => `${row.account_id.split(':')[0]}:${row.id ?? row.chat_id}`;
  const account = (row) => row.account_id.split(':')[1] ?? '';
  const group = (name, content) => make('section', { class: 'group' }, make('h2', {}, t(`people.${name}`)), content);
  const rows = (items, none = 'people.none') => (items.length ? make('ul', { class: 'rows' }, items) : make('p', { class: 'empty' }, t(none)));

  function rowOf(name, about, text, run) {
    return make('li', { class: 'row plain' },
      make('div', { class: 'row-main' }, make('p', { class: 'row-head' }, make('bdi', {}, name), make('span', { class: 'row-about' }, ` · ${about}`))),
      text ? make('p', { class: 'row-buttons' }, make('button', { type: 'button', class: 'quiet', 'aria-label': `${text}: ${name}`, onclick: run }, text)) : null);
  }

  // A code outlives what the page learns meanwhile, so its section is not drawn again.
  function pairingSection() {
    const shown = make('div', { role: 'status' });
    const pair = async () => {
      try {
        const { code, hints } = await post('people/pair');
        shown.replaceChildren(make('p', {}, t('people.pair.says')), make('p', { class: 'code' }, code), ...Object.values(hints).map((hint) => make('p', {}, hint)));
      } catch (cause) {
        shown.replaceChildren(make('p', { class: 'row-why' }, cause.message));
      }
    };
    return make('section', { class: 'group', id: 'pairing', hidden: true }, make('h2', {}, t('people.pair.title')), make('p', { class: 'more' }, t('people.pair.about')),
      make('button', { type: 'button', class: 'button', onclick: pair }, t('people.pair')), shown);
  }

  function draw(found) {
    place.querySelector('#grant').hidden = !found.may;
    pairing.hidden = !found.pairing;
    const known = new Map([...found.rules.map((one) => [who(one), one.name]), ...found.used.map((one) => [one.person, one.name])]);
    place.querySelector('#grant-known').replaceChildren(...[...known].map(([value, name]) => make('option', { value }, name ?? '')));
    const waiting = found.waiting.map((one) => rowOf(one.title || who(one), who(one), t('people.open'), () => act('people/grant', { who: who(one), role: 'member', account: account(one) })));
    const rules = found.rules.filter(({ role }) => role !== 'none').map((one) => rowOf(one.name || who(one), `${who(one)} · ${t(`people.role.${one.role}`)}${one.granted_by === 'settings' ? ` · ${t('people.settings')}` : ''}`,
      one.granted_by === 'settings' ? '' : t('people.revoke'), () => act('people/revoke', { who: who(one), account: account(one) })));
    const sessions = found.sessions.map((one) => rowOf(one.name || one.person, [one.name && one.person, one.account, t('people.session', when(one.since), when(one.until))].filter(Boolean).join(' · '),
      t('people.session.end'), () => act(`people/sessions/${one.session}/end`, {})));
    const limit = (name) => { const most = found.limits[name]?.turns; return most ? t('people.answers', most) : t('people.unlimited'); };
    body.replaceChildren(
      found.mode === 'open' ? make('p', { class: 'row-why' }, t('people.mode.open')) : '',
      found.may ? group('waiting', rows(waiting, 'people.none.chats')) : '', found.may ? group('rules', rows(rules)) : '',
      sessions.length ? group('sessions', make('div', {}, found.more_sessions ? make('p', { class: 'more' }, t('people.sessions.more', sessions.length)) : null, rows(sessions))) : '',
      group('used', make('div', {}, make('p', { class: 'more' }, t('people.limit', limit('member'), limit('stranger'))), usedOf(found))),
      found.openings.length ? group('openings', make('ul', { class: 'notes' }, found.openings.map((one) => make('li', {}, t('people.opened', one.person, one.title, when(one.date)))))) : '');
  }

  function usedOf({ used, may }) {
    if (!used.length) return make('p', { class: 'empty' }, t('people.none'));
    const columns = [[t('people.person')], [t('people.chat')], ...['turns', 'refused', 'tokens', 'cost'].map((name) => [t(`people.${name}`), 'number']), ['', 'bar']];
    return table(t('people.used'), columns, used.map((row) => [
      make('bdi', {}, row.name || row.person), row.chat ? make('a', { href: `#/tape/${row.chat}` }, make('bdi', {}, row.title)) : '–',
      number(row.turns), number(row.refused), number(row.tokens), money(row.cost, row.unpriced),
      may && row.chat ? make('button', { type: 'button', class: 'quiet', 'aria-label': t('people.erase.of', row.name || row.person, row.title), onclick: () => erase(row) }, t('people.erase')) : '',
    ]));
  }

  async function erase(row) {
    const agreed = await sure({ title: t('people.erase.title', row.name || row.person, row.title), sentence: t('people.erase.sentence'), yes: t('people.erase.yes'), no: t('people.erase.no') });
    if (!agreed) return;
    const found = await act('people/erase', { what: 'person', chat: row.chat, name: row.person, sure: 'erase' });
    if (found && !left) look(found.erasure);
  }

  async function look(erasure) {
    try {
      const { state, entries, problem } = await get(`people/erasures/${erasure}`);
      if (left) return;
      say(problem || (state === 'done' ? t('people.erase.ended', entries) : t('people.erase.open')));
      if (state !== 'done' && !problem) timer = setTimeout(() => look(erasure), LOOK);
    } catch (cause) {
      if (!left) say(cause.message);
    }
  }

  const followed = follow({ path: () => 'people', draw, note, topics: ['ledger'] });
  return () => { left = true; clearTimeout(timer); followed.end(); links.end(); };
}
