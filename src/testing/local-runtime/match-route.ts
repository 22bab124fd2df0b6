import type {Protocol, Route} from './context.js';
import {HttpFailure} from './http-failure.js';

/** A route with what its pattern found in a path. */
export interface RouteMatch {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * The route of a protocol for a request.
 * @throws HttpFailure 404 when nothing is served at the path, 405 when it is served for other methods.
 */
export function matchRoute(protocol: Protocol, method: string, path: string): RouteMatch {
  // Decoded part by part: a "%2F" is no separator, and "%2E%2E" is a name like any other, for the handler to refuse.
  const parts = path.slice(protocol.prefix.length).split('/').map(decodePart);
  const segments = (list: readonly string[]): readonly string[] =>
    protocol.anyFinalSlash && list.length > 1 && list.at(-1) === '' ? list.slice(0, -1) : list;
  const candidates = protocol.routes.flatMap((route) => {
    const params = matchPattern(segments(route.pattern.split('/')), segments(parts));
    return params === undefined ? [] : [{route, params}];
  });
  const match = candidates.find(({route}) => route.method === method || (method === 'HEAD' && route.method === 'GET'));
  if (match) return match;
  if (candidates.length === 0) throw new HttpFailure(404, `Nothing is served at ${path}.`);
  const allowed = candidates.map(({route}) => route.method).join(', ');
  throw new HttpFailure(405, `${path} is served for ${allowed}, not for ${method}.`, {allow: allowed});
}

function matchPattern(
  pattern: readonly string[],
  parts: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const [, name, rest] = /^\{(\w+)(\*)?\}$/.exec(expected) ?? [];
    const part = parts[index];
    if (part === undefined || (name === undefined && part !== expected)) return undefined;
    if (name === undefined) continue;
    // Encoded again: what was "%2F" must not become a separator.
    if (rest !== undefined) return {...params, [name]: parts.slice(index).map(encodeURIComponent).join('/')};
    if (part === '') return undefined;
    params[name] = part;
  }
  return pattern.length === parts.length ? params : undefined;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new HttpFailure(400, `The path has a part that cannot be decoded: ${part}.`);
  }
}
