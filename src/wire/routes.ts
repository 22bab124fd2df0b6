/**
 * What a request is for. `archive` is the presigned URL of a download, `history` the list of deployments,
 * `logs` the WebSocket of a target.
 */
export const wireRoutes = [
  'upload',
  'list',
  'projects',
  'download',
  'archive',
  'delete',
  'deploy',
  'history',
  'deployment',
  'target',
  'targets',
  'create-target',
  'delete-target',
  'variables',
  'set-variables',
  'update-target',
  'primary',
  'redirects',
  'change-redirects',
  'access',
  'change-access',
  'api-key',
  'invalidate',
  'log-token',
  'logs',
  'token',
  'openapi',
] as const;

export type WireRoute = (typeof wireRoutes)[number];
