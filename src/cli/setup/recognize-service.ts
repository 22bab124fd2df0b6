import type {CommandContext} from '../command/command-context.js';

/** What an address answered. */
export interface RecognizedService {
  /** The built-in backends whose paths it knows. Empty if it answers, but to neither. */
  readonly backends: readonly ('legacy' | 'api')[];
  /** Why nothing was learned: it can't be reached. */
  readonly problem?: string | undefined;
}

/** A path of each backend that refuses or answers a stranger, where another service says that there is nothing. */
const paths = {
  legacy: 'api/projects/',
  api: 'storefront/deployments/v1/organizations/none/storefronts/none/bundles',
} as const;

const timeoutMs = 5000;
const known: ReadonlySet<number> = new Set([200, 401, 403]);

/** Asks an address, without credentials, which of the built-in backends it serves. */
export async function recognizeService(
  address: string,
  {env, signal, userAgent, output}: Pick<CommandContext, 'env' | 'signal' | 'userAgent' | 'output'>,
): Promise<RecognizedService> {
  const {probe} = await import('../../http/probe.js');
  const base = address.endsWith('/') ? address : `${address}/`;
  const ask = async (backend: 'legacy' | 'api') => {
    const url = new URL(paths[backend], base);
    const request = {url, accepts: (code: number) => known.has(code), timeoutMs};
    const {status, problem} = await probe(request, {env, signal, userAgent, logger: output});
    return {backend, status, problem};
  };
  const answers = await Promise.all([ask('legacy'), ask('api')]);
  const [first] = answers;
  if (answers.every(({status}) => status === undefined)) return {backends: [], problem: first.problem};
  return {backends: answers.filter(({status = 0}) => known.has(status)).map(({backend}) => backend)};
}
