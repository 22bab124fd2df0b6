import {isPluginBackend, removeBackendSecrets} from '../../cli/setup/backend-login.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {readCredentials, updateCredentials} from '../../cli/settings/credential-file.js';
import {afterLogout} from '../../cli/setup/login.js';
import {originOf} from '../../cli/settings/stored-settings.js';
import type {AuthLogoutDocument, Body} from '../../cli/output/documents.js';
import {connectionFlags, shown} from '../../cli/command/flags.js';
import {Flags} from '../../cli/command/oclif.js';
import type {Settings} from '../../cli/settings/settings.js';
import {createError} from '../../errors/index.js';

export default class AuthLogout extends BaseCommand<typeof AuthLogout> {
  static override readonly aliases = ['logout'];
  static override readonly summary = 'Remove the stored credentials for one origin or backend, or for all.';
  static override readonly description =
    "Without flags, removes the credentials for the origins set in the environment and the configuration file. With the name of a plugin's backend, removes the secrets stored for it.";
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example',
    '<%= config.bin %> <%= command.id %> --runtime-backend acme',
    '<%= config.bin %> <%= command.id %> --all',
  ];
  static override readonly flags = {
    origin: connectionFlags.origin,
    'api-origin': shown(connectionFlags['api-origin']),
    'runtime-backend': connectionFlags['runtime-backend'],
    all: Flags.boolean({summary: 'Remove the credentials for every origin and backend.'}),
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {output, credentialFile} = context;
    const backend = this.flags['runtime-backend'];
    if (backend !== undefined && !this.flags.all && isPluginBackend(backend)) {
      const removed = await removeBackendSecrets(context, [backend]);
      if (removed.length === 0) output.outcome(`No secrets are stored for the ${backend} backend.`);
      return {removed} satisfies Body<AuthLogoutDocument>;
    }
    const stored = await readCredentials(credentialFile);
    const trusted = (stored.trusted ?? []).map((url) => new URL(url).origin);
    const named = this.flags.all
      ? [...new Set([...Object.keys(stored.origins), ...trusted])]
      : this.#origins(await context.loadSettings({stored: false}));
    const removed = named.filter((name) => stored.origins[name] !== undefined);
    if (named.some((name) => removed.includes(name) || trusted.includes(name))) {
      await updateCredentials(credentialFile, (now) => afterLogout(now, named));
    }
    for (const name of removed) output.outcome(`Removed the credentials for ${name}.`);
    const backends = this.flags.all ? await removeBackendSecrets(context, Object.keys(stored.backends ?? {})) : [];
    if (removed.length + backends.length === 0)
      output.outcome(`No credentials are stored for ${named.join(' or ') || 'any origin'}.`);
    return {removed: [...removed, ...backends]} satisfies Body<AuthLogoutDocument>;
  }

  #origins({origin, apiOrigin}: Settings): readonly string[] {
    const given = [origin, apiOrigin].filter((setting) => setting?.source.kind === 'flag');
    const named = (given.length > 0 ? given : [origin, apiOrigin]).flatMap((setting) => originOf(setting) ?? []);
    if (named.length > 0) return [...new Set(named)];
    throw createError('ERR_USAGE', 'No origin specified.', {
      suggestions: ['Pass --origin, --api-origin or --all. Run mycli auth:status to list the stored credentials.'],
    });
  }
}
