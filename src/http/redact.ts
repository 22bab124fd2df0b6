const mask = '***';

/**
 * Makes a function that masks, in any text: the secrets, also base64-encoded (alone or inside something longer),
 * URL-encoded and JSON-escaped; values of `Authorization` headers; credentials and queries of URLs, which may be
 * presigned.
 * @param secrets - Those shorter than 4 characters are left alone: masking them would only mangle every message.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(secrets.filter((secret) => secret.length >= 4).flatMap(formsOf));
  // The longest first: a form may contain another one.
  const sorted = [...forms].sort((a, b) => b.length - a.length);
  return (text) => {
    // No regular expression: a long secret would be too large for one, and be repeated by the error that says so.
    const masked = sorted.reduce((rest, form) => rest.replaceAll(form, mask), text);
    return (
      masked
        .replace(
          /(authorization["']?\s*[:=]\s*["']?)(?:(bearer|basic)\s+)?[^\s"',;]+/gi,
          (_, name: string, scheme = '') => [name, scheme && `${String(scheme)} `, mask].join(''),
        )
        .replace(/\b(bearer|basic) [\w.~+/-]{16,}=*/gi, `$1 ${mask}`)
        .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>@]*@/gi, `$1${mask}@`)
        // A password with a slash or the like in it: no URL, but what somebody wanted to be one.
        .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>@:]*:(?!\d{1,5}[/?#])[^\s"'<>]*@/gi, `$1${mask}@`)
        .replace(/\b(https?:\/\/[^\s?#"'<>]*\?)[^\s#"'<>]+/gi, `$1${mask}`)
    );
  };
}

function formsOf(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), ...base64FormsOf(secret)];
}

/**
 * What stays the same of the base64 of any text that contains `secret`, at each of the three ways it can be aligned.
 */
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
