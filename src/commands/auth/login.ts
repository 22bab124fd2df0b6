import {isBuiltIn} from '../../backends/names.js';
import {BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {connectionFlags, flagsOf} from '../../cli/command/flags.js';
import {credentialKinds, credentialRows} from '../../cli/settings/credential-file.js';
import {loadAllBackends} from '../../cli/settings/load-backends.js';
import {missingSetting, type Settings} from '../../cli/settings/settings.js';
import {askForUrl} from '../../cli/setup/interview.js';
import {builtInLogin, importedLogin, runLogin, pluginLogin, withOrganization} from '../../cli/setup/login.js';
import {canAsk} from '../../cli/setup/prompts.js';
import {createError} from '../../errors/index.js';

export default class AuthLogin extends BaseCommand<typeof AuthLogin, 'auth:login'> {
  static override readonly aliases = ['login'];
  static override readonly changes = 'machine';
  static override readonly summary = "Store credentials for an origin, or for a plugin's backend.";
  static override readonly description =
    'Prompts for the secret without echoing it, or reads it from stdin. Asks the service whether it accepts the ' +
    'credentials, then stores them and the organization for this origin only. Asks you to confirm an address that ' +
    'only a configuration file sets. Commands without an origin use the last login, unless flags, environment ' +
    "variables or the configuration file name another one. For a plugin's backend without its own login, asks for " +
    'its secret options (on stdin, one per line), and uses them only with the addresses in its other options.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example',
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example < key.txt',
    '<%= config.bin %> <%= command.id %> --import --origin https://runtime.example',
    '<%= config.bin %> <%= command.id %> --api-origin https://api.example --token-url https://login.example/token --client-id ci --organization org_1',
    '<%= config.bin %> <%= command.id %> --api-origin https://api.example --kind api-token --no-verify',
    '<%= config.bin %> <%= command.id %> --runtime-backend acme',
  ];
  static override readonly flags = {
    origin: connectionFlags.origin,
    'api-origin': connectionFlags['api-origin'],
    organization: connectionFlags.organization,
    ...flagsOf('login'),
    project: connectionFlags.project,
    'runtime-backend': connectionFlags['runtime-backend'],
    'backend-option': connectionFlags['backend-option'],
    kind: Flags.option({
      options: credentialKinds,
      summary: 'Kind of credential; default client-secret for OAuth, otherwise api-key.',
    })(),
    import: Flags.boolean({summary: 'Import the credentials of other clients without asking.'}),
    verify: Flags.boolean({default: true, allowNo: true, summary: 'Check the credentials before storing them.'}),
  };

  protected async execute(context: CommandContext) {
    const {flags} = this;
    const settings = await context.loadSettings({stored: false});
    const backend = this.#backend(settings);
    if (!isBuiltIn(backend)) {
      const registry = await loadAllBackends(context, settings);
      const login = pluginLogin(context, settings, registry.find(backend));
      return runLogin(context, login, flags.verify);
    }
    const kindFor = (name: string) => flags.kind ?? (name === 'legacy' ? 'api-key' : 'client-secret');
    if (flags.import) {
      const login = await importedLogin(context, settings, (found) => kindFor(this.#backend(found)));
      return runLogin(context, login, flags.verify);
    }
    const kind = kindFor(backend);
    const {setting, addresses} = credentialRows[kind];
    const [service] = addresses;
    const isOpen = settings[service] === undefined;
    if (isOpen && !canAsk(context)) throw missingSetting(service);
    const located = isOpen ? await askForUrl(context, settings, service) : settings;
    const complete = backend === 'api' ? await withOrganization(context, located) : located;
    const outcome = await runLogin(context, builtInLogin(context, complete, kind), flags.verify);
    const {[setting]: used, projectSlug, organizationId, runtimeBackend} = complete;
    if (used?.source.kind === 'environment')
      context.output.warn(`To use the stored ${kind.split('-').at(-1)}, unset ${used.source.name}.`);
    const project = projectSlug === undefined ? ['--project', 'SLUG'] : [];
    const organization = backend === 'api' && organizationId === undefined ? ['--organization', 'ID'] : [];
    const other = ['auto', backend].includes(runtimeBackend.value) ? [] : ['--runtime-backend', backend];
    context.output.info(['Push a bundle: ', {run: ['bundle:push', ...project, ...organization, ...other]}]);
    return outcome;
  }

  /** The backend to log in to: the one that the flags are for, or else the configured one. */
  #backend({runtimeBackend, origin, apiOrigin, apiKey, clientSecret}: Settings): string {
    const {flags} = this;
    const {kind, 'runtime-backend': wanted = 'auto'} = flags;
    const ofKind = kind && credentialRows[kind].backend;
    if (wanted !== 'auto' && kind !== undefined && ofKind !== wanted) {
      throw createError('ERR_USAGE', `--kind ${kind} cannot be used with --runtime-backend ${wanted}.`, {
        suggestions: ['Remove one of them.'],
      });
    }
    if (wanted !== 'auto') return wanted;
    if (ofKind !== undefined) return ofKind;
    if (flags.origin !== undefined) return 'legacy';
    if (flags['api-origin'] !== undefined) return 'api';
    if (runtimeBackend.value !== 'auto') return runtimeBackend.value;
    const isApi = flags.import ? apiKey === undefined && clientSecret !== undefined : origin === undefined;
    return isApi && apiOrigin !== undefined ? 'api' : 'legacy';
  }
}
