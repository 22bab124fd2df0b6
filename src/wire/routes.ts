/** What a request is for. `archive` is the presigned URL of a download, `history` the list of deployments. */
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
  'token',
  'openapi',
] as const;

export type WireRoute = (typeof wireRoutes)[number];
