// Colours for code: comments, strings, numbers and keywords; loaded when a room has code.

const C = 'if else for while do switch case break continue return default goto struct enum union const static void sizeof typedef extern int long short char float double unsigned signed bool true false NULL nullptr class public private protected virtual override template typename namespace using new delete this try catch throw auto constexpr include define ifdef endif';
const WORDS = {
  python: 'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield',
  js: 'abstract any as async await boolean break case catch class const continue declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let namespace never new null number of private protected public readonly return set static string super switch this throw true try type typeof undefined unknown var void while yield',
  sh: 'if then else elif fi for while until do done case esac in function return export local set unset source exit cd echo read shift trap eval exec',
  sql: 'select from where insert into values update set delete create table index view drop alter add column primary key foreign references not null unique default check and or in is like between exists join left right inner outer full on group by order having limit offset union all distinct as case when then else end with recursive returning begin commit rollback asc desc true false',
  go: 'break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false string int int64 bool byte error any',
  rust: 'as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while Some None Ok Err',
  java: 'abstract boolean break byte case catch char class const continue default do double else enum extends false final finally float for if implements import instanceof int interface internal is long new null object override package private protected public return short static super switch synchronized this throw throws true try val var void volatile when while fun data suspend string bool using namespace async await record',
  c: C,
  data: 'true false null yes no on off',
};
const NAMES = {
  py: 'python', python3: 'python', javascript: 'js', jsx: 'js', ts: 'js', tsx: 'js', typescript: 'js', mjs: 'js', bash: 'sh', shell: 'sh', zsh: 'sh',
  console: 'sh', dockerfile: 'sh', golang: 'go', rs: 'rust', kotlin: 'java', kt: 'java', csharp: 'java', cs: 'java', 'c#': 'java', swift: 'java',
  cpp: 'c', 'c++': 'c', h: 'c', hpp: 'c', postgresql: 'sql', sqlite: 'sql', json: 'data', jsonc: 'data', yaml: 'data', yml: 'data', toml: 'data', ini: 'data', css: 'data',
};
const HASH = '#[^\\n]*';
const SLASHES = '\\/\\/[^\\n]*|\\/\\*[^]*?(?:\\*\\/|$)';
const QUOTED = '"(?:\\\\[^]|[^"\\\\\\n])*"?|\'(?:\\\\[^]|[^\'\\\\\\n])*\'?';
const COMMENTS = { python: HASH, sh: '(?<![\\w$&])#[^\\n]*', data: '(?<!\\S)#(?= |$)[^\\n]*|\\/\\*[^]*?(?:\\*\\/|$)', sql: '--[^\\n]*|\\/\\*[^]*?(?:\\*\\/|$)' };
const STRINGS = { python: `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${QUOTED}`, js: `\`(?:\\\\[^]|[^\`\\\\])*\`?|${QUOTED}`, go: `\`[^\`]*\`?|${QUOTED}`, rust: '"(?:\\\\[^]|[^"\\\\])*"?|\'(?:\\\\.|[^\\\\\\n])\'' };
const MAX_PAINTED = 30_000;
const made = new Map();

function grammar(language) {
  const name = NAMES[language] ?? language;
  if (!Object.hasOwn(WORDS, name)) return null;
  if (!made.has(name)) {
    const words = WORDS[name].split(' ').join('|');
    made.set(name, new RegExp(
      `(?<comment>${COMMENTS[name] ?? SLASHES})|(?<string>${STRINGS[name] ?? QUOTED})|(?<number>\\b(?:0x[\\da-f_]+|\\d[\\d_]*(?:\\.\\d+)?(?:e[+-]?\\d+)?)\\b)|(?<keyword>(?<![\\w$.-])(?:${words})(?![\\w$-]))`,
      name === 'sql' ? 'gi' : 'g',
    ));
  }
  return made.get(name);
}

const DIFF = { '+': 'string', '-': 'removed', '@': 'comment' };

export function paint(code, language) {
  const text = code.textContent;
  if (text.length > MAX_PAINTED) return;
  if (language === 'diff' || language === 'patch') {
    code.replaceChildren(...text.split(/(?<=\n)/).map((line) => (DIFF[line[0]] ? span(DIFF[line[0]], line) : line)));
    return;
  }
  const found = grammar(language.toLowerCase());
  if (!found) return;
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(found)) {
    if (!match[0]) continue;
    const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    parts.push(text.slice(at, match.index), span(kind, match[0]));
    at = match.index + match[0].length;
  }
  code.replaceChildren(...parts, text.slice(at));
}

function span(kind, text) {
  const element = document.createElement('span');
  element.className = `code-${kind}`;
  element.textContent = text;
  return element;
}
