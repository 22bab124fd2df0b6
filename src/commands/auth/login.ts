import {optionsFor, partitioned} from '../../cli/settings/plugin-options.js';
import {loadAllBackends} from '../../cli/settings/reach-backends.js';
import type {HostBackend} from '../../backends/built-in.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {
  askForSecrets,
  confirmBackendAddresses,
  isPluginBackend,
  loginDialogue,
  originsIn,
  storeBackendSecrets,
  verifyBackendLogin,
} from '../../cli/setup/backend-login.js';
import {
  confirmAddresses,
  credentialKinds,
  loginTarget,
  storeLogin,
  verifyLogin,
  type CredentialKind,
} from '../../cli/setup/login.js';
import {canAsk, readSecretInput} from '../../cli/setup/prompts.js';
import {takeOverKey, withUser} from '../../cli/setup/take-over.js';
import type {AuthLoginDocument, Body} from '../../cli/output/documents.js';
import {connectionFlags, shown} from '../../cli/command/flags.js';
import {commandHost} from '../../cli/command/operation-options.js';
import {Flags} from '../../cli/command/oclif.js';
import {checkedSecret} from '../../cli/settings/load-settings.js';
import type {Settings} from '../../cli/settings/settings.js';

const {
  origin,
  'api-user': apiUser,
  'api-origin': apiOrigin,
  organization,
  'token-url': tokenUrl,
  'client-id': clientId,
  project,
  'runtime-backend': runtimeBackend,
  'backend-option': backendOption,
} = connectionFlags;

export default class AuthLogin extends BaseCommand<typeof AuthLogin> {
  static override readonly aliases = ['login'];
  static override readonly summary = "Store credentials for an origin, or for a plugin's backend.";
  static override readonly description =
    'Prompts for the secret without echoing it, or reads it from stdin. Asks the service whether it accepts the credentials, ' +
    'then stores them for this origin only. An address that only a configuration file sets must be confirmed. Commands without an origin use the last login. Flags, environment ' +
    "variables and the configuration file override it. A plugin's backend may have a login of its own. Otherwise, asks for its secret options, one on each line of stdin. Stores them for the addresses among its other options.";
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example',
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example < key.txt',
    '<%= config.bin %> <%= command.id %> --api-origin https://api.example --token-url https://login.example/token --client-id ci --organization org_1',
    '<%= config.bin %> <%= command.id %> --api-origin https://api.example --kind api-token --no-verify',
    '<%= config.bin %> <%= command.id %> --runtime-backend acme',
  ];
  static override readonly flags = {
    origin,
    'api-user': shown(apiUser),
    'api-origin': shown(apiOrigin),
    organization: shown(organization),
    'token-url': shown(tokenUrl),
    'client-id': shown(clientId),
    project,
    'runtime-backend': runtimeBackend,
    'backend-option': shown(backendOption),
    kind: Flags.option({
      options: credentialKinds,
      summary: 'Kind of credential; default client-secret with --api-origin, otherwise api-key.',
    })(),
    verify: Flags.boolean({
      default: true,
      allowNo: true,
      summary: 'Check the credentials before storing them.',
    }),
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {output, stdin, signal} = context;
    const loaded = await context.loadSettings({stored: false});
    const {runtimeBackend: wanted} = loaded;
    const named = [this.flags.origin, this.flags['api-origin'], this.flags.kind].some((flag) => flag !== undefined);
    if (!named && isPluginBackend(wanted.value)) return this.#loginToPlugin(context, loaded);
    const kind = this.#kind(loaded);
    const target = loginTarget(context, loaded, kind);
    await confirmAddresses(context, loaded, target, canAsk(context));
    const {prompt} = target;
    const other =
      kind === 'api-key' && loaded.origin !== undefined && canAsk(context)
        ? await takeOverKey(loaded.origin.value, context)
        : undefined;
    const settings = other === undefined ? loaded : withUser(loaded, other);
    const input =
      other?.apiKey ?? (await readSecretInput({stdin, stream: output.stream, prompt: output.clean(prompt), signal}));
    const secret = checkedSecret(input, `the ${kind}`);
    const identity = this.flags.verify ? await verifyLogin(context, settings, {kind, secret}) : undefined;
    const login = await storeLogin(context, settings, {kind, secret, identity});
    const project = settings.projectSlug === undefined ? ['--project', 'SLUG'] : [];
    output.info(['Push a bundle: ', {run: ['bundle:push', ...project]}]);
    return {...login, kind} satisfies Body<AuthLoginDocument>;
  }

  /** Stores the secrets of a plugin's backend, which it may obtain itself. */
  async #loginToPlugin(context: CommandContext, settings: Settings): Promise<JsonDocument> {
    const {flags, config} = this;
    const registry = await loadAllBackends({context, settings, config, flags});
    const registration = registry.find(settings.runtimeBackend.value);
    const {name, backend} = registration;
    const {output, signal} = context;
    const given = optionsFor(registration, settings);
    await confirmBackendAddresses(context, settings, name, given);
    const secrets = await this.#secretsFor(backend, given, context, settings);
    output.addSecrets(Object.values(secrets));
    const {options, variables} = partitioned(secrets, backend.secretEnv ?? []);
    const credentials = {backend, options: {...given, ...options}, variables};
    const verified = flags.verify ? await verifyBackendLogin(context, settings, credentials) : undefined;
    signal.throwIfAborted();
    const stored = await storeBackendSecrets(context, name, secrets, originsIn(given));
    const account = verified?.account;
    return {...stored, kind: 'options', verified: verified !== undefined, account} satisfies Body<AuthLoginDocument>;
  }

  async #secretsFor(
    backend: HostBackend,
    backendOptions: Readonly<Record<string, unknown>>,
    context: CommandContext,
    settings: Settings,
  ): Promise<Readonly<Record<string, string>>> {
    if (backend.login === undefined) return askForSecrets(backend, context);
    const {logIn} = await import('../../operations/identify.js');
    const {signal} = context;
    const call = {backend, backendOptions, requestTimeout: settings.requestTimeout.value, signal};
    return logIn({...call, ...loginDialogue(backend, context)}, commandHost(context));
  }

  #kind({origin, apiOrigin}: Settings): CredentialKind {
    if (this.flags.kind !== undefined) return this.flags.kind;
    if (this.flags.origin !== undefined) return 'api-key';
    const isApi = this.flags['api-origin'] !== undefined || (origin === undefined && apiOrigin !== undefined);
    return isApi ? 'client-secret' : 'api-key';
  }
}
