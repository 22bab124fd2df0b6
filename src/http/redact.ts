import type {Logger} from './types.js';

const mask = '***';

/** Masks the secrets, values of `Authorization` headers, and credentials and queries of URLs, except those `shown`. */
export function createRedactor(
  secrets: readonly string[],
  shown: ReadonlySet<string> = new Set(),
): (text: string) => string {
  const maskSecrets = createMasker(secrets);
  return (text) =>
    maskSecrets(text)
      .replace(
        /(authorization["']?\s*[:=]\s*["']?)(?:(bearer|basic)\s+)?[^\s"',;]+/gi,
        (_, name: string, scheme = '') => [name, scheme && `${String(scheme)} `, mask].join(''),
      )
      .replace(/\b(bearer|basic) [\w.~+/-]{16,}=*/gi, `$1 ${mask}`)
      .replace(/[^\s"'<>]+/g, (word) => {
        if (!word.includes('://')) return word;
        const masked = word.replace(urlCredentials, maskUser);
        return shown.has(word) ? masked : maskQueries(masked);
      });
}

/** A logger that masks what it passes on, and has nothing else of `logger`. */
export function maskingLogger(logger: Logger, redact: (text: string) => string): Logger {
  return {
    debug: (message) => logger.debug(redact(message)),
    info: (message) => logger.info(redact(message)),
    warn: (message) => logger.warn(redact(message)),
  };
}

/** Masks secrets, to which more may be added, and their lines: plain, encoded, in base64 or hex, broken into lines. */
export function createMasker(secrets: readonly string[]): (text: string) => string {
  const known: (readonly FormsFor[])[] = [];
  return (text) => {
    for (const secret of secrets.slice(known.length)) known.push([secret, ...passwordsIn(secret)].map(formsOf));
    return maskForms(text, known.flat());
  };
}

/** Whether a text contains one of the secrets, in one of the forms that `createRedactor` masks. */
export function containsSecret(text: string, secrets: readonly string[]): boolean {
  return createMasker(secrets)(text) !== text;
}

/**
 * Parts of a text: plain ones; percent signs, backslashes and entities of HTML, with what they encode; quotation marks
 * as shells want them; line breaks with the indentation after them; any other character.
 */
const parts =
  /[\t -$(-*,-[\]-~]+|'\\+''|%(?:25)*[\da-f]{2}|(?:\\+u[\da-f]{4})+|\\+(?:[nr][\t ]*|[bft])?|&(?:amp;)*(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);|[\n\r][\t ]*|[^]/giu;

const entities: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'"};

/** What is compared of a part: what it encodes, in UTF-8, without line breaks and backslashes, and + as a blank. */
function bytesOf(part: string): string {
  return compared(decoded(part));
}

function compared(bytes: string): string {
  return bytes.replaceAll(/[\\\n\r]/g, '').replaceAll('+', ' ');
}

function decoded(part: string): string {
  const [first] = part;
  if (first === '%' && part.length > 1) return String.fromCharCode(Number.parseInt(part.slice(-2), 16));
  if (first === '&' && part.length > 1) {
    const [, decimal, hex = '', name = ''] = /^&(?:amp;)*(?:#(\d+)|#x([\da-f]+)|(\w+));$/i.exec(part) ?? [];
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return entities[name.toLowerCase()] ?? utf8(code <= 0x10_ff_ff ? String.fromCodePoint(code) : '');
  }
  if (first === '\n' || first === '\r') return '';
  if (first === "'") return first;
  if (first !== '\\') return utf8(part);
  const escape = part.replaceAll('\\', '').toLowerCase();
  if (!escape.startsWith('u')) return {b: '\b', f: '\f', t: '\t'}[escape] ?? '';
  const [, ...units] = escape.split('u').map((digits) => Number.parseInt(digits, 16));
  return utf8(String.fromCharCode(...units));
}

function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Masks what is a form once it is decoded. A regular expression of a long secret could exceed its limits. */
function maskForms(text: string, known: readonly FormsFor[]): string {
  const bytes = text.replaceAll(parts, bytesOf);
  const secret = new Uint8Array(bytes.length);
  for (const form of known.flatMap((formsFor) => formsFor(bytes.length))) {
    for (let start = bytes.indexOf(form); start !== -1; start = bytes.indexOf(form, start + form.length))
      secret.fill(1, start, start + form.length);
  }
  if (!secret.includes(1)) return text;
  let [masked, start, isMasked] = ['', 0, false];
  for (const [part] of text.matchAll(parts)) {
    const own = bytesOf(part);
    // What is encoded is masked as a whole.
    const isEncoded = own !== part;
    const hasSecret = secret.subarray(start, start + own.length).includes(1);
    for (const piece of hasSecret && !isEncoded ? part : [part]) {
      const wasMasked = isMasked;
      const end = start + (isEncoded ? own.length : piece.length);
      // A line break or a backslash encodes nothing. It is masked if what surrounds it is.
      isMasked = end === start ? wasMasked && secret[end] === 1 : secret.subarray(start, end).includes(1);
      if (!isMasked) masked += piece;
      else if (!wasMasked) masked += mask;
      start = end;
    }
  }
  return masked;
}

const [shortest, shortestLine] = [4, 8];

/** The bytes to look for in a text with so many. */
type FormsFor = (length: number) => readonly string[];

function formsOf(secret: string): FormsFor {
  if (secret.length < shortest) return () => [];
  const lines = secret.split(/[\n\r]+/).map((line) => line.trim());
  // The first and the last line of a key in PEM are no secret.
  const secretLines = lines.filter((line) => line.length >= shortestLine && !line.startsWith('-----'));
  // `\b` may be what is encoded, or encode something.
  const plain = [secret, ...(lines.length > 1 ? secretLines : [])]
    .flatMap((text) => [text.replaceAll(parts, bytesOf), compared(utf8(text))])
    .filter((form) => form.length >= shortest);
  const encode = () => {
    const base64 = [secret, formEncode(secret)].flatMap(base64FormsOf).map(compared);
    const hex = Buffer.from(secret).toString('hex');
    return [...new Set([...plain, ...base64, hex, hex.toUpperCase()])];
  };
  let all: readonly string[] | undefined;
  // In base64 and hex, a secret is no shorter. Encoding one of many megabytes takes a second.
  return (length) => (length < secret.length ? plain : (all ??= encode()));
}

/** The user and password of a URL, also one that is invalid because the password contains a slash or the like. */
const urlCredentials = /(\b[a-z][\w+.-]{0,30}:[/]{2})(?:[^/?#]*@|[^/?#@:]*:(?!\d{1,5}[/?#])(?:[^@]{0,200}@)+)/gi;

/** Users of URLs that are no secrets: accounts of SSH and databases. With other schemes, a user may be a token. */
const account =
  /^(?:(?:git\+)?ssh|sftp|postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|mssql|sqlserver):[/]{2}[^/?#@:]*@$/i;
/** Those of documentation. */
const placeholder = /:[/]{2}(?:USER(?::PASSWORD)?|TOKEN)@$/;

function maskUser(url: string, scheme: string): string {
  return account.test(url) || placeholder.test(url) ? url : `${scheme}${mask}@`;
}

/** The password of a connection string, or of a URL, with its user: even if it is invalid, with any character. */
export function passwordsIn(text: string): readonly string[] {
  const assignments = text.matchAll(/(?<![^\s;&?])(?:password|passwd|pwd)\s{0,9}=\s{0,9}([^\s;&]+)/gi);
  const assigned = [...assignments].map(([, value = '']) => value);
  const url = /^(?:[a-z][\w+.-]*:?[/\\]+|https?:|[/\\]{2,})([^/?#@:]*:(?![/]{2})([^/?#]*|(?!\d{1,5}[/?#]).*))@/is;
  const [, both, password] = url.exec(text.trim()) ?? [];
  return both === undefined || password === undefined ? assigned : [both, password, ...assigned];
}

/** Whether a text is a URL with a password, or with a user that is masked. */
export function hasCredentials(text: string): boolean {
  const [user] = /^[a-z][\w+.-]*:[/]{2}[^/?#]*@/i.exec(text.trim()) ?? [];
  return passwordsIn(text).length > 0 || (user !== undefined && maskUser(user, '') !== user);
}

function maskQueries(word: string): string {
  const parts = word.split('#').map((part) => {
    const url = part.search(/\b[a-z][\w+.-]{0,30}:\/\//i);
    const query = url === -1 ? -1 : part.indexOf('?', url) + 1;
    return query > 0 && query < part.length ? `${part.slice(0, query)}${mask}` : part;
  });
  return parts.join('#');
}

/** Encodes text as `application/x-www-form-urlencoded` does. */
export function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** The part that all base64 texts containing `secret` have in common, for each of the three alignments. */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const aligned = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return text.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes.length) * 4) / 3));
  });
  return [bytes.toString('base64'), ...aligned].flatMap((text) => [
    text,
    text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
  ]);
}

/** Names of secrets, without word separators. */
const secretName =
  /^(?:.*(?:apikey|clientsecret|clientkey|token|password|passphrase|secret|privatekey|clientcertificate)|credentials?)$/;

/** Whether the name of a key or a variable is that of a secret, not of a setting about secrets like `tokenUrl`. */
export function isSecretName(name: string): boolean {
  return secretName.test(plainName(name));
}

const secretVariable =
  /TOKEN|SECRET|PASSWO?R?D|PASSPHRASE|CREDENTIAL|CONNECTION_?STRING|(?:API|ACCESS|PRIVATE)_?KEY|(?:^|_)(?:KEY|AUTH|PASS|PWD|JWT|COOKIE|PAT)$/i;
function hasPassword(word: string): boolean {
  return /:\/\/[^/?#:]*:/.test(word.slice(0, word.lastIndexOf('@') + 1));
}

/** Whether an environment variable is likely to have a secret, by its name or as a URL with a password. */
export function looksSecret([name, value = '']: readonly [string, string | undefined]): boolean {
  return (secretVariable.test(name) && !/^(?:OLD)?PWD$/.test(name)) || value.split(/\s/).some(hasPassword);
}

/** Whether the value of a header is masked: of any but those that say what a client is and wants. */
export function isMaskedHeader(name: string): boolean {
  return !/^(?:accept(?:-[a-z]+)?|cache-control|user-agent|x-forwarded-[a-z]+)$/i.test(name);
}

export function isSecretHeader(name: string, value: string): boolean {
  return /auth|cookie|access-control|token|secret|key|pass|credential/i.test(name) || isLikelySecret(value);
}

/** Whether a word is likely to be a secret: long, of letters and digits, and no path, or the form of a token. */
export function isLikelySecret(word: string): boolean {
  return /^(?=.*\d)(?=.*[a-z])[\w+=-]{20,}$/i.test(word) || /^(?:eyJ|sk-|gh[a-z]_|[\w-]{20,}\.[\w-]{20,}\.)/.test(word);
}

export function plainName(name: string): string {
  return name.replaceAll(/[-_]/g, '').toLowerCase();
}
