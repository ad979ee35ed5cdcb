// Amounts of money, on every page: two digits after the point, and as many more as a small one needs
// ($0.0004, never $0.00), as `amount` in gateway/wording.py writes them for files and the terminal.

const MOST = 10; // digits after the point
const made = new Map(); // a formatter takes longer to make than to use

export function amount(value, currency, locale) {
  const small = value > 0 && value < 1;
  const digits = small ? Math.min(MOST, Math.max(2, 1 - Math.floor(Math.log10(value)))) : 2;
  const key = `${locale} ${currency} ${digits}`;
  if (!made.has(key)) {
    made.set(key, new Intl.NumberFormat(locale, { style: 'currency', currency, minimumFractionDigits: 2, maximumFractionDigits: digits }));
  }
  return made.get(key).format(value ?? 0);
}
