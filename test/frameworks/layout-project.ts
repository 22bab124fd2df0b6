import {request, type IncomingMessage} from 'node:http';
import {text} from 'node:stream/consumers';
import {join} from 'node:path';
import {afterAll, beforeAll, beforeEach} from 'vitest';
import {startLocalRuntime, type LocalRuntime} from '../../src/testing.js';
import {runWarm} from '../cli/warm-cli.js';
import {makeFolder, writeTree, type Tree} from '../folder.js';

/** The document of a command. */
export interface Planned {
  readonly warnings?: readonly string[];
  readonly files: readonly {readonly path: string; readonly category: string}[];
  readonly buildDirectory?: string;
  readonly error?: {
    readonly code: string;
    readonly exitCode: number;
    readonly message: string;
    readonly suggestions: readonly string[];
  };
}

export const publicFiles = ({files}: Planned) =>
  files.flatMap(({path, category}) => (category === 'ssrOnly' ? [] : [path]));

/** A project in a folder of its own for each test, and a local runtime for all of them. */
export function useLayouts() {
  let runtime: LocalRuntime;
  let root: string;
  let directory: string;
  beforeAll(async () => {
    runtime = await startLocalRuntime({deploymentSeconds: 0});
  });
  afterAll(() => runtime.close());
  beforeEach(async () => {
    root = await makeFolder();
    directory = join(root, 'project');
  });

  const run = async (args: readonly string[], variables: Readonly<Record<string, string>> = {}) => {
    const {apiKey, organizationId, clientId, clientSecret, tokenUrl} = runtime.credentials;
    const api = {API_ORIGIN: runtime.origin, ORGANIZATION: organizationId, CLIENT_ID: clientId, TOKEN_URL: tokenUrl};
    const settings = {...api, CLIENT_SECRET: clientSecret, RUNTIME_ORIGIN: runtime.origin, API_KEY: apiKey};
    const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`MYCLI_${name}`, value]));
    const {stdout} = await runWarm([...args, '--json'], {
      cwd: directory,
      // Beside the project, which may be what is pushed.
      env: {...env, ...variables, XDG_CONFIG_HOME: join(root, 'config')},
    });
    return JSON.parse(stdout) as Planned;
  };

  return {
    directory: () => directory,
    write: (tree: Tree) => writeTree(directory, tree),
    run,
    mycli: (...args: readonly string[]) => run(args),
    /** The status with which a deployed file is answered. */
    async statusOf(target: string, path: string): Promise<number> {
      const {port} = new URL(runtime.appsOrigin);
      const asked = request({host: '127.0.0.1', port, path: `/shop/${target}/${path}`}).end();
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        asked.once('response', resolve).once('error', reject);
      });
      await text(answer);
      return answer.statusCode ?? 0;
    },
  };
}
