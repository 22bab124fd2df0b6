interface ServerConfig {
  /** Files that run on the server and are never served. */
  ssrOnly: string[];
  /** Files that are served. */
  ssrShared: string[];
  ssrParameters: Record<string, unknown>;
}

export const config: ServerConfig = {
  ssrOnly: ['ssr.js', 'server/**/*'],
  ssrShared: ['static/**/*'],
  ssrParameters: {SSRFunctionNodeVersion: '24.x'},
};
