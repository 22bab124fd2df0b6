const mask = '***';

/**
 * Creates a function that masks, in any text: the secrets, also base64-encoded (alone or within something longer),
 * URL-encoded and JSON-escaped; the values of `Authorization` headers; and the credentials and queries of URLs, which
 * may be presigned.
 * @param secrets - Those with fewer than 4 characters are not masked, which would only mangle every message.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(secrets.filter((secret) => secret.length >= 4).flatMap(formsOf));
  // Longest first, because one form may contain another.
  const sorted = [...forms].sort((a, b) => b.length - a.length);
  return (text) => {
    // No regular expression: a long secret could exceed its limits, and the error would repeat it.
    const masked = sorted.reduce((rest, form) => rest.replaceAll(form, mask), text);
    return (
      masked
        .replace(
          /(authorization["']?\s*[:=]\s*["']?)(?:(bearer|basic)\s+)?[^\s"',;]+/gi,
          (_, name: string, scheme = '') => [name, scheme && `${String(scheme)} `, mask].join(''),
        )
        .replace(/\b(bearer|basic) [\w.~+/-]{16,}=*/gi, `$1 ${mask}`)
        .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>@]*@/gi, `$1${mask}@`)
        // A password that contains a slash or the like: not a valid URL, but meant to be one.
        .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>@:]*:(?!\d{1,5}[/?#])[^\s"'<>]*@/gi, `$1${mask}@`)
        .replace(/\b(https?:\/\/[^\s?#"'<>]*\?)[^\s#"'<>]+/gi, `$1${mask}`)
    );
  };
}

function formsOf(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), ...base64FormsOf(secret)];
}

/** What any base64 text that contains `secret` has in common, for each of the three alignments. */
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
