import type {SeenRequest} from './fault-server.js';
import type {Answer} from './faults.js';

/** The deployment of every cell. */
export const deploymentId = '0b9f6a1e-0000-4000-8000-000000000001';

/** What a service is asked, in the words of the matrix. */
export type RequestName =
  | 'token'
  | 'upload'
  | 'deploy'
  | 'delete'
  | 'look'
  | 'poll'
  | 'list'
  | 'download'
  | 'archive'
  /** What no test asks for. */
  | 'other';

/** What a request asks for. */
export function nameOf({method, url}: Pick<SeenRequest, 'method' | 'url'>): RequestName {
  const path = url.replace(/\?.*/, '');
  const is = (wanted: string, pattern: RegExp) => method === wanted && pattern.test(path);
  if (is('POST', /^\/token$/)) return 'token';
  if (is('POST', /\/bundles\/?$|\/builds\//)) return 'upload';
  if (is('GET', /\/bundles\/?$/)) return 'list';
  if (is('GET', /\/download\/$/)) return 'download';
  if (is('GET', /^\/archive$/)) return 'archive';
  if (is('DELETE', /\/bundles\/7\/$/)) return 'delete';
  if (is('POST', /\/deploy\/$|\/deployments$/)) return 'deploy';
  if (is('GET', /\/deployments\/[^/]+$/)) return 'poll';
  // Legacy looks at the newest deployment before it asks for one, and polls many afterwards.
  if (is('GET', /\/deploy\/$/)) return url.includes('limit=2&') ? 'look' : 'poll';
  return 'other';
}

/** What a service in order answers. */
export function rightAnswer(
  name: RequestName,
  {url}: SeenRequest,
  {archive, archiveOrigin}: {readonly archive: Buffer; readonly archiveOrigin: string},
): Answer {
  const isLegacy = url.startsWith('/api/');
  switch (name) {
    case 'token':
      return json(200, {access_token: 'canary-access-token', expires_in: 3600, token_type: 'Bearer'});
    case 'upload':
      return json(201, isLegacy ? {id: 7, bundle_id: 7} : {bundleId: 7});
    case 'deploy':
      return json(201, isLegacy ? {} : {deploymentId, status: 'queued'});
    case 'delete':
      return {kind: 'answer', status: 204, length: 'none'};
    case 'look':
      return json(200, {count: 0, results: []});
    case 'poll':
      return isLegacy
        ? json(200, {count: 1, results: [{bundle: {id: 7}, status: 'Finished', created_at: '2026-01-01T00:00:00Z'}]})
        : json(200, {deploymentId, status: 'finished'});
    case 'list':
      return isLegacy
        ? json(200, {count: 1, results: [{id: 7, status: 1}]})
        : json(200, {total: 1, data: [{bundleId: 7, status: 'ok'}]});
    case 'download':
      return json(200, {download_url: `${archiveOrigin}/archive?signature=canary-signature`});
    case 'archive':
      return {kind: 'answer', status: 200, headers: [['etag', '"1"']], body: archive};
    case 'other':
      return {kind: 'answer', status: 418};
  }
}

function json(status: number, value: unknown): Answer {
  return {kind: 'answer', status, headers: [['content-type', 'application/json']], body: JSON.stringify(value)};
}
