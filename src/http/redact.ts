const mask = '***';

/**
 * Creates a function that masks, in any text: the secrets, also base64-encoded (alone or within something longer),
 * URL-encoded, form-encoded and JSON-escaped; the values of `Authorization` headers; and the credentials and queries of
 * URLs, which may be presigned.
 * @param secrets - Secrets with fewer than 4 characters are not masked, since that would mangle every message. The
 * list may grow.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  let count = 0;
  let sorted: readonly string[] = [];
  return (text) => {
    if (secrets.length !== count) {
      count = secrets.length;
      // Longest first, because one form may contain another.
      sorted = maskable(secrets).toSorted((a, b) => b.length - a.length);
    }
    // No regular expression: a long secret could exceed its limits, and the error would repeat it.
    const masked = sorted.reduce((rest, form) => rest.replaceAll(form, mask), text);
    return masked
      .replace(
        /(authorization["']?\s*[:=]\s*["']?)(?:(bearer|basic)\s+)?[^\s"',;]+/gi,
        (_, name: string, scheme = '') => [name, scheme && `${String(scheme)} `, mask].join(''),
      )
      .replace(/\b(bearer|basic) [\w.~+/-]{16,}=*/gi, `$1 ${mask}`)
      .replace(/[^\s"'<>]+/g, (word) =>
        word.includes('://') ? maskQueries(word.replace(urlCredentials, `$1${mask}@`)) : word,
      );
  };
}

/** Whether a text contains one of the secrets, in one of the forms that `createRedactor` masks. */
export function containsSecret(text: string, secrets: readonly string[]): boolean {
  return maskable(secrets).some((form) => text.includes(form));
}

function maskable(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets.filter((secret) => secret.length >= 4).flatMap(formsOf))];
}

/**
 * The user and password of a URL. They end at the first `@`, or at the last one if the password contains a slash or the
 * like, which makes the URL invalid but is still meant as one; not if a port follows the host. Nothing in it looks far
 * ahead: a server may have written the text.
 */
const urlCredentials = /(\b[a-z][\w+.-]{0,30}:[/]{2})(?:[^/?#@]*@|[^/?#@:]*:(?!\d{1,5}[/?#])(?:[^@]{0,200}@)+)/gi;

function maskQueries(word: string): string {
  const parts = word.split('#').map((part) => {
    const url = part.search(/\bhttps?:\/\//i);
    const query = url === -1 ? -1 : part.indexOf('?', url) + 1;
    return query > 0 && query < part.length ? `${part.slice(0, query)}${mask}` : part;
  });
  return parts.join('#');
}

function formsOf(secret: string): string[] {
  const encoded = formEncode(secret);
  const base64 = [secret, encoded].flatMap(base64FormsOf);
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), encoded, ...base64];
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
/** Whether a word is a URL with a password. */
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

/** Whether a header is likely to have a secret, by its name or its value. */
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
