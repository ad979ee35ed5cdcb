// Formulas as text that one can read: letters, signs, raised and lowered parts. A sign that is
// not known here shows its name.

import { make } from './parts.js';

const GREEK = 'alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω';
const SIGNS = 'infty ∞ partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ oint ∮ iint ∬ times × cdot · div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet • oplus ⊕ otimes ⊗ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ equiv ≡ approx ≈ sim ∼ simeq ≃ cong ≅ propto ∝ ll ≪ gg ≫ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ emptyset ∅ varnothing ∅ setminus ∖ forall ∀ exists ∃ neg ¬ lnot ¬ land ∧ wedge ∧ lor ∨ vee ∨ to → rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⇒ iff ⇔ mapsto ↦ uparrow ↑ downarrow ↓ ldots … cdots ⋯ dots … vdots ⋮ angle ∠ perp ⊥ parallel ∥ mid | vert | lvert | rvert | Vert ‖ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ prime ′ degree ° therefore ∴ because ∵ triangle △ square □ checkmark ✓';
const pairs = (text) => { const words = text.split(' '); return words.flatMap((word, i) => (i % 2 ? [] : [[word, words[i + 1]]])); };
const KNOWN = new Map([...pairs(GREEK), ...pairs(SIGNS)]);
const SPACED = new Set('=<>+≤≥≠≡≈∼≃≅∝≪≫∈∉⊂⊆⊃⊇∪∩→←↔⇒⇐⇔↦×÷±∓∧∨⊕⊗'); // "−" is spaced only between two things
const SPACES = { ',': ' ', ':': ' ', ';': ' ', ' ': ' ', '!': '', quad: '  ', qquad: '   ' };
const FACES = new Set(['text', 'mathrm', 'mathbf', 'mathit', 'mathsf', 'mathtt', 'operatorname', 'textbf', 'textit', 'textrm', 'boldsymbol', 'mathcal', 'displaystyle', 'textstyle', 'limits', 'boxed']);
const ACCENTS = { hat: '\u0302', bar: '\u0304', overline: '\u0305', vec: '\u20d7', dot: '\u0307', ddot: '\u0308', tilde: '\u0303', widehat: '\u0302', underline: '\u0332' };
const BOARD = { R: 'ℝ', N: 'ℕ', Z: 'ℤ', Q: 'ℚ', C: 'ℂ', P: 'ℙ', E: '𝔼' };

const TOKEN = /\\([A-Za-z]+|[^])|\s+|[^]/g;

export function formula(source) {
  const tokens = source.match(TOKEN) ?? [];
  const fragment = document.createDocumentFragment();
  read(tokens, fragment, () => false);
  return fragment;
}

const simple = (node) => /^[\p{L}\p{N}]*$/u.test(node.textContent) && node.childElementCount === 0;

// Add to a node what the tokens say, up to one that ends it.
function read(tokens, into, isEnd) {
  while (tokens.length && !isEnd(tokens[0])) add(tokens, into);
  if (tokens.length) tokens.shift();
  into.normalize?.();
}

const endsBy = (end) => (token) => token === end;

// The next group in braces, or the next sign.
function group(tokens) {
  const part = make('span');
  while (tokens.length && !tokens[0].trim()) tokens.shift();
  if (tokens[0] === '{') {
    tokens.shift();
    read(tokens, part, endsBy('}'));
  } else if (tokens.length) add(tokens, part);
  return part;
}

const put = (into, part, open = '', close = '') => into.append(open, ...part.childNodes, close);
const putTied = (into, part) => (simple(part) ? put(into, part) : put(into, part, '(', ')'));

function add(tokens, into) {
  const token = tokens.shift();
  if (token === '{') {
    const part = make('span');
    read(tokens, part, endsBy('}'));
    put(into, part);
  } else if (token === '}') {
    into.append('}');
  } else if (token === '^' || token === '_') {
    const part = make(token === '^' ? 'sup' : 'sub');
    put(part, group(tokens));
    into.append(part);
  } else if (token === '&') {
    into.append(' ');
  } else if (token === '~' || !token.trim()) {
    if (!/\s$/.test(into.textContent)) into.append(' ');
  } else if (token === '\\\\') {
    into.append(make('br'));
  } else if (token.startsWith('\\')) {
    command(token.slice(1), tokens, into);
  } else if (token === "'") {
    into.append('′');
  } else if (/[A-Za-z]/.test(token)) {
    into.append(make('i', '', token));
  } else sign(token === '-' ? '−' : token, into);
}

// Signs between two things stand apart from them.
function sign(text, into) {
  const before = into.textContent;
  const apart = before.trim() && into.nodeName !== 'SUP' && into.nodeName !== 'SUB'
    && (SPACED.has(text) || (text === '−' && /[\p{L}\p{N})\]}′]\s*$/u.test(before)));
  into.append(apart ? `${/\s$/.test(before) ? '' : ' '}${text} ` : text);
}

function command(name, tokens, into) {
  if (name === 'frac' || name === 'dfrac' || name === 'tfrac') {
    putTied(into, group(tokens));
    into.append('/');
    putTied(into, group(tokens));
  } else if (name === 'binom') {
    put(into, group(tokens), '(');
    put(into, group(tokens), ' over ', ')');
  } else if (name === 'sqrt') {
    if (tokens[0] === '[') {
      tokens.shift();
      const root = make('sup');
      read(tokens, root, endsBy(']'));
      into.append(root);
    }
    into.append('√');
    putTied(into, group(tokens));
  } else if (name === 'text' || name === 'mathrm' || name === 'operatorname') {
    const words = group(tokens);
    into.append(words.textContent);
  } else if (name === 'mathbb') {
    const letter = group(tokens).textContent;
    into.append(BOARD[letter] ?? letter);
  } else if (Object.hasOwn(ACCENTS, name)) {
    const part = group(tokens).textContent;
    into.append(Array.from(part, (letter) => letter + ACCENTS[name]).join(''));
  } else if (name === 'left' || name === 'right') {
    if (tokens[0] === '.') tokens.shift();
  } else if (name === 'begin' || name === 'end') {
    rows(name, group(tokens).textContent, tokens, into);
  } else if (Object.hasOwn(SPACES, name)) {
    into.append(SPACES[name]);
  } else if (KNOWN.has(name)) {
    sign(KNOWN.get(name), into);
  } else if (!FACES.has(name)) {
    into.append(name.length > 1 && /[A-Za-z0-9)]$/.test(into.textContent) ? ` ${name}` : name);
    if (/^[A-Za-z]{2,}$/.test(name) && /^[A-Za-z0-9\\]/.test(tokens[0] ?? '')) into.append(' ');
  }
}

const BRACKETS = { pmatrix: '()', bmatrix: '[]', vmatrix: '||', cases: '{ ' };
const rows = (what, name, tokens, into) => into.append((BRACKETS[name.replace('*', '')] ?? '  ')[what === 'begin' ? 0 : 1].trim());
