import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {askService, withCredentials} from '../../cli/credentials/check-credentials.js';
import {credentialPath, updateCredentials, type OriginCredentials} from '../../cli/credentials/credential-file.js';
import {
  afterLogin,
  credentialKinds,
  loginTarget,
  type CredentialKind,
  type LoginTarget,
} from '../../cli/credentials/login.js';
import {readSecretInput} from '../../cli/command/prompts.js';
import type {AuthLoginDocument, Body} from '../../cli/output/documents.js';
import {connectionFlags} from '../../cli/command/flags.js';
import {Flags} from '../../cli/process/oclif.js';
import {checkedSecret} from '../../cli/settings/load-settings.js';
import type {Settings} from '../../cli/settings/settings.js';
import {amendError, isRuntimeCliError} from '../../errors/index.js';
import {commandLine} from '../../errors/suggest.js';

const {
  origin,
  'api-user': apiUser,
  'api-origin': apiOrigin,
  organization,
  'token-url': tokenUrl,
  'client-id': clientId,
  project,
} = connectionFlags;

export default class AuthLogin extends BaseCommand<typeof AuthLogin> {
  static override readonly aliases = ['login'];
  static override readonly summary = 'Store credentials for an origin.';
  static override readonly description =
    'Prompts for the secret without echoing it, or reads it from stdin. Asks the service whether it accepts the credentials, ' +
    'then stores them for this origin only. Commands without an origin use the last login. Flags, environment ' +
    'variables and the configuration file override it.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example',
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example < key.txt',
    '<%= config.bin %> <%= command.id %> --api-origin https://api.example --token-url https://login.example/token --client-id ci --organization org_1',
    '<%= config.bin %> <%= command.id %> --api-origin https://api.example --kind api-token --no-verify',
  ];
  static override readonly flags = {
    origin,
    'api-user': apiUser,
    'api-origin': apiOrigin,
    organization,
    'token-url': tokenUrl,
    'client-id': clientId,
    project,
    kind: Flags.option({
      options: credentialKinds,
      summary: 'Kind of credential; default client-secret with --api-origin, otherwise api-key.',
      helpGroup: 'CONNECTION',
    })(),
    verify: Flags.boolean({
      default: true,
      allowNo: true,
      summary: 'Ask the service whether it accepts the credentials before storing them.',
      helpGroup: 'CONNECTION',
    }),
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {output, stdin, signal, credentialFile} = context;
    const settings = await context.loadSettings({stored: false});
    const target = loginTarget(context, settings, this.#kind(settings));
    const input = await readSecretInput({stdin, stream: output.stream, prompt: output.clean(target.prompt), signal});
    const secret = checkedSecret(input, `the ${target.kind}`);
    output.addSecrets([secret]);
    const credentials = target.complete(secret);
    const identity = this.flags.verify ? await this.#verify(context, settings, target, credentials) : undefined;
    const organizationId = settings.organizationId?.value;
    await updateCredentials(credentialFile, (stored) => afterLogin(stored, target, credentials, organizationId));
    const file = credentialPath(credentialFile);
    if (identity?.asked) output.result(`${target.origin} accepted the ${target.kind}.`);
    output.result(`Stored the ${target.kind} for ${target.origin} in ${file}.`);
    const project = settings.projectSlug === undefined ? ['--project', 'SLUG'] : [];
    output.info(`Push a bundle: ${commandLine('bundle:push', ...project)}`);
    const {origin, kind} = target;
    const {asked: verified = false, expiresAt} = identity ?? {};
    return {origin, kind, file, verified, expiresAt} satisfies Body<AuthLoginDocument>;
  }

  async #verify(context: CommandContext, settings: Settings, {backend}: LoginTarget, credentials: OriginCredentials) {
    try {
      const identity = await askService(context, withCredentials(settings, credentials), backend);
      if (!identity.asked) {
        context.output.warn('The token was not checked. To check it, pass --organization and --project.');
      }
      return identity;
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      throw amendError(error, {suggestions: ['Nothing was stored. Pass --no-verify to store credentials unchecked.']});
    }
  }

  #kind({origin, apiOrigin}: Settings): CredentialKind {
    if (this.flags.kind !== undefined) return this.flags.kind;
    if (this.flags.origin !== undefined) return 'api-key';
    const isApi = this.flags['api-origin'] !== undefined || (origin === undefined && apiOrigin !== undefined);
    return isApi ? 'client-secret' : 'api-key';
  }
}
