// Stands in for the package of this name, which the client depends on and which the public registry does not have. It
// offers what the client's command `push` imports, and sends the requests that the published sources of the package
// send: no `bundle_metadata`, paths with their final slash, the target asked for its state until that is an end.
import {setTimeout as delay} from 'node:timers/promises';
import {Command, Flags} from '@oclif/core';

export const DEFAULT_MRT_ORIGIN = 'http://127.0.0.1:9';

/** The command that `push` extends. */
export class MrtCommand extends Command {
  static baseFlags = {
    'api-key': Flags.string({env: 'MRT_API_KEY'}),
    project: Flags.string({char: 'p', env: 'MRT_PROJECT'}),
    environment: Flags.string({char: 'e', env: 'MRT_ENVIRONMENT'}),
    'cloud-origin': Flags.string({char: 'o', env: 'MRT_CLOUD_ORIGIN'}),
    'project-directory': Flags.string({char: 'd'}),
  };

  async init() {
    await super.init();
    const {flags} = await this.parse(this.ctor);
    this.apiKey = flags['api-key'];
    this.resolvedConfig = {
      values: {mrtProject: flags.project, mrtEnvironment: flags.environment, mrtOrigin: flags['cloud-origin']},
    };
  }

  requireMrtCredentials() {
    if (!this.apiKey) this.error('no API key');
  }

  getMrtAuth() {
    return this.apiKey;
  }
}

/** Sends a request to a path below `/api/`; a failure is an error with the answer in it. */
export function createMrtClient({origin}, apiKey) {
  return async (path, body) => {
    const response = await fetch(`${origin}/api/${path}`, {
      headers: {authorization: `Bearer ${apiKey}`, ...(body && {'content-type': 'application/json'})},
      ...(body && {method: 'POST', body: JSON.stringify(body)}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Failed: ${text}`);
    return JSON.parse(text);
  };
}

export async function uploadBundle(client, projectSlug, bundle, target) {
  const {message, encoding, data, ssr_parameters, ssr_only, ssr_shared} = bundle;
  const body = {message, encoding, data, ssr_parameters, ssr_only, ssr_shared};
  const {bundle_id, warnings} = await client(`projects/${projectSlug}/builds/${target ? `${target}/` : ''}`, body);
  return {bundleId: bundle_id, warnings};
}

export async function waitForEnv({projectSlug, slug, origin, onPoll}, apiKey) {
  const client = createMrtClient({origin}, apiKey);
  for (let elapsedSeconds = 0; ; elapsedSeconds += 1) {
    const {state} = await client(`projects/${projectSlug}/target/${slug}/`);
    onPoll({slug, elapsedSeconds, state});
    if (state === 'ACTIVE') return;
    if (state.endsWith('_FAILED')) throw new Error(`Environment failed: ${state}`);
    await delay(1000);
  }
}

export const getLogger = () => ({debug: () => {}, info: () => {}, warn: () => {}});

export class B2CPluginManager {
  pluginNames = [];
  async initialize() {}
  applyMiddleware() {}
}

/** What other commands of the client are made of: they are loaded together with `push`, and not run. */
export {Command as OAuthCommand, Command as CartridgeCommand, Command as InstanceCommand};
const unused = () => {
  throw new Error('the stand-in does not do this');
};
export {
  unused as uploadCartridges,
  unused as deleteCartridges,
  unused as getActiveCodeVersion,
  unused as reloadCodeVersion,
  unused as listEnvVars,
  unused as validateMetaDefinitionFile,
  unused as createScapiSchemasClient,
  unused as toOrganizationId,
};
