// The forms that set a model and the tokens of bots: tried first, then saved and used at once.

import { post } from '../api.js';
import { announce, lamp, make } from '../dom.js';
import { asked } from '../screen.js';
import { addWords, t } from '../words.js';

addWords({
  en: {
    'set.title': 'Set while it runs', 'set.about': 'What you save is written into one file of the gateway, and only this model or this channel starts again with it. Answers that are being written are finished first, those of a channel within eight seconds.',
    'set.model': 'Model', 'set.field.base_url': 'Address of the server', 'set.field.model': 'Name of the model', 'set.field.key': 'API key', 'set.field.token': 'Token', 'set.field.bot_token': 'Bot token (xoxb-…)', 'set.field.app_token': 'App-level token (xapp-…)',
    'set.keyless': 'This server needs no key', 'set.own': 'empty: OpenAI’s own', 'set.keep': 'set; empty keeps it', 'set.again': 'A stored key is sent to no other address: enter the key for this one.',
    'set.is': 'set', 'set.is-not': 'not set', 'set.try': 'Try', 'set.save': 'Save', 'set.trying': 'Asking…', 'set.saved': 'Saved, and in use: the next answer comes with it.', 'set.saved.channel': 'Saved: the channel connects with it now.', 'set.works': 'This works. Nothing is saved yet.', 'set.fails': 'This does not work, so nothing is saved.',
    'set.remove': 'Disconnect', 'set.remove.ask': 'The token is taken out of the file, and the channel stops: the agent hears and answers nobody there. Everything that was said stays. What is still to be sent waits for another token of the same bot.', 'set.remove.no': 'Keep it', 'set.removed': 'The token is removed, and the channel stops.',
    'set.where.telegram': 'From @BotFather in Telegram.', 'set.where.discord': 'From the developer portal: Bot, Reset Token.', 'set.where.slack': 'From your app’s pages: OAuth & Permissions, and Basic Information.',
  },
  zh: {
    'set.title': '运行中可设置', 'set.about': '保存的内容写入网关的一个文件，只有该模型或该渠道会重新启动。正在进行的回答会照常完成。',
    'set.model': '模型', 'set.field.base_url': '服务器地址', 'set.field.model': '模型名称', 'set.field.key': 'API 密钥', 'set.field.token': '令牌', 'set.field.bot_token': '机器人令牌（xoxb-…）', 'set.field.app_token': '应用级令牌（xapp-…）',
    'set.keyless': '此服务器不需要密钥', 'set.own': '留空：OpenAI 官方地址', 'set.keep': '已设置；留空则保留', 'set.again': '已保存的密钥不会发往其他地址：请输入此地址的密钥。',
    'set.is': '已设置', 'set.is-not': '未设置', 'set.try': '测试', 'set.save': '保存', 'set.trying': '正在询问…', 'set.saved': '已保存并生效：下一个回答将使用它。', 'set.saved.channel': '已保存：渠道正在用它连接。', 'set.works': '可以使用。尚未保存。', 'set.fails': '无法使用，因此没有保存。',
    'set.remove': '断开连接', 'set.remove.ask': '令牌将从文件中移除，渠道随即停止：助手在那里不再接收消息，也不再回答任何人。已说过的内容都会保留。尚未发送的内容会等待同一机器人的新令牌。', 'set.remove.no': '保留', 'set.removed': '令牌已移除，渠道正在停止。',
    'set.where.telegram': '来自 Telegram 的 @BotFather。', 'set.where.discord': '来自开发者门户：Bot，Reset Token。', 'set.where.slack': '来自应用页面：OAuth & Permissions 与 Basic Information。',
  },
});

// Return { root, show }: the forms of what may be set. `show(may)` draws what has changed there, so that
// what somebody types elsewhere stays. `saved()` is called once something was saved, here or by others.
export function settingForms(saved) {
  const root = make('section', { class: 'group set' });
  const stored = { version: '' };
  const drawn = new Map();

  function show({ why, version, parts }) {
    stored.version = version;
    if (why || !drawn.size) {
      drawn.clear();
      root.replaceChildren(make('h2', {}, t('set.title')), make('p', { class: why ? 'row-why' : 'more' }, why || t('set.about')), make('ul', { class: 'cards' }));
    }
    for (const part of parts) {
      const [known, card] = drawn.get(part.name) ?? [];
      if (known === JSON.stringify(part)) continue;
      const now = cardOf(part, stored, saved);
      if (card) {
        now.querySelector('.set-result')?.replaceChildren(...card.querySelector('.set-result')?.children ?? []);
        card.replaceWith(now);
      } else root.querySelector('.cards').append(now);
      drawn.set(part.name, [JSON.stringify(part), now]);
    }
  }

  return { root, show };
}

function cardOf(part, stored, saved) {
  const title = part.title || t('set.model');
  const isSet = part.name === 'model' ? part.fields.some(({ name, value }) => name === 'model' && value !== 'offline') : part.fields.every((field) => field.set);
  const head = make('p', { class: 'card-head' }, make('strong', {}, title), lamp(isSet ? 'good' : '', t(isSet ? 'set.is' : 'set.is-not')));
  if (part.why) return make('li', { class: 'card' }, head, make('p', { class: 'row-about' }, part.why));
  const result = make('div', { class: 'set-result' });
  const inputs = part.fields.filter((field) => !field.fixed).map((field) => [field, inputOf(part, field)]);
  const keyless = make('input', { type: 'checkbox', id: `set-${part.name}-keyless` });
  const again = make('div', { hidden: true }, make('p', { class: 'row-about' }, t('set.again')),
    make('p', { class: 'field check' }, keyless, make('label', { for: keyless.id }, t('set.keyless'))));
  const tryIt = make('button', { type: 'button', class: 'quiet', onclick: () => send(`settings/${part.name}/try`, false) }, t('set.try'));
  const save = make('button', { class: 'button' }, t('set.save'));
  const isSaved = part.name !== 'model' && part.fields.some((field) => field.set) && !part.fields.some((field) => field.fixed);
  const remove = make('button', { type: 'button', class: 'quiet', 'aria-label': `${t('set.remove')}: ${title}`, onclick: disconnect }, t('set.remove'));

  const form = make('form', { class: 'set-form', autocomplete: 'off', oninput: showAgain, onsubmit: (event) => { event.preventDefault(); send(`settings/${part.name}`, true); } },
    part.fields.map((field) => rowOf(part, field, inputs.find(([one]) => one === field)?.[1])),
    part.name === 'model' ? again : make('p', { class: 'row-about' }, t(`set.where.${part.name}`)),
    inputs.length ? make('p', { class: 'row-buttons' }, isSaved ? remove : null, tryIt, save) : null);

  function showAgain() {
    again.hidden = !hasNewAddress();
    for (const [field, input] of inputs) input.placeholder = hasNewAddress() && field.secret ? '' : hintOf(field);
  }

  function hasNewAddress() {
    const found = inputs.find(([field]) => field.name === 'base_url');
    return Boolean(found) && found[1].value.trim() !== found[0].value;
  }

  function show(sentence, lines = [], well = true) {
    result.replaceChildren(sentence ? make('p', { class: well ? 'set-well' : 'row-why' }, sentence) : '', ...lines.map(({ says, remedy }) => make('p', {}, says, remedy ? make('span', { class: 'row-about' }, ` ${remedy}`) : null)));
    announce([sentence, ...lines.flatMap(({ says, remedy }) => [says, remedy])].filter(Boolean).join(' '));
  }

  async function send(path, isFinal) {
    const values = Object.fromEntries(part.fields.filter((field) => field.fixed && !field.secret).map((field) => [field.name, field.value]));
    for (const [field, input] of inputs) values[field.name] = input.value;
    if (keyless.checked && hasNewAddress()) values.keyless = 'yes';
    tryIt.disabled = save.disabled = true;
    show(t('set.trying'));
    try {
      const { well, lines } = await post(path, { values, version: stored.version });
      const good = isFinal ? t(part.name === 'model' ? 'set.saved' : 'set.saved.channel') : t('set.works');
      show(well ? good : t('set.fails'), lines, well);
      if (well && isFinal) {
        for (const [field, input] of inputs) if (field.secret) input.value = ''; // no secret stays in the page
        saved();
      }
    } catch (cause) {
      show(cause.message, [], false);
      if (cause.status === 409) saved();
    } finally {
      tryIt.disabled = save.disabled = false;
    }
  }

  async function disconnect() {
    if (!await asked(`${t('set.remove')}: ${title}`, [t('set.remove.ask')], t('set.remove.no'), t('set.remove'))) return;
    tryIt.disabled = save.disabled = remove.disabled = true;
    try {
      await post(`settings/${part.name}/remove`, { version: stored.version });
      show(t('set.removed'));
      saved();
    } catch (cause) {
      show(cause.message, [], false);
      if (cause.status === 409) saved();
    } finally {
      tryIt.disabled = save.disabled = remove.disabled = false;
    }
  }

  return make('li', { class: 'card', 'data-part': part.name }, head, form, result);
}

function hintOf(field) {
  if (field.secret) return field.set ? t('set.keep') : '';
  return field.name === 'base_url' ? t('set.own') : '';
}

function inputOf(part, field) {
  return make('input', {
    id: `set-${part.name}-${field.name}`, type: field.secret ? 'password' : 'text', autocomplete: field.secret ? 'new-password' : 'off', spellcheck: 'false',
    value: field.secret ? '' : field.value, placeholder: hintOf(field), maxlength: 2000,
  });
}

// A field, or where its value comes from if it cannot be changed here.
function rowOf(part, field, input) {
  const label = t(`set.field.${field.name}`);
  if (input) return make('p', { class: 'field' }, make('label', { for: input.id }, label, ' ', make('code', {}, field.variable)), input);
  return make('p', { class: 'field fixed' }, make('span', { class: 'row-about' }, label),
    field.secret ? t(field.set ? 'set.is' : 'set.is-not') : make('code', { class: 'value' }, field.value || '–'),
    make('span', { class: 'row-about' }, make('code', {}, field.variable), ` ${t(`from.${field.fixed}`, field.place)}`));
}
