import {ownValue} from '../../text/json.js';
import {suggestNames, near} from '../../text/suggest.js';
import {BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {backendTitle, mayUse} from '../../backends/names.js';
import {isPluginBackend} from '../../cli/settings/connection-options.js';
import {
  credentialEntries,
  readCredentials,
  secretsIn,
  updateCredentials,
  withoutCredentials,
  type RemovedCredentials,
  type StoredCredentials,
} from '../../cli/settings/credential-file.js';
import {originOf} from '../../cli/settings/load-settings.js';
import {addressOrigin} from '../../cli/settings/option-addresses.js';
import {connectionFlags} from '../../cli/command/flags.js';
import type {Settings} from '../../cli/settings/settings.js';
import {createError} from '../../errors/index.js';

export default class AuthLogout extends BaseCommand<typeof AuthLogout, 'auth:logout'> {
  static override readonly aliases = ['logout'];
  static override readonly changes = 'machine';
  static override readonly summary = 'Remove the stored credentials for one origin or backend, or for all.';
  static override readonly description =
    'Without flags, removes the credentials for the origins set in the environment and the configuration file. With ' +
    'the name of a backend, removes only what is stored for it.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example',
    '<%= config.bin %> <%= command.id %> --runtime-backend acme',
    '<%= config.bin %> <%= command.id %> --all',
  ];
  static override readonly flags = {
    origin: connectionFlags.origin,
    'api-origin': connectionFlags['api-origin'],
    'runtime-backend': connectionFlags['runtime-backend'],
    all: Flags.boolean({summary: 'Remove the credentials for every origin and backend.'}),
  };

  protected async execute(context: CommandContext) {
    const {output, credentialFile} = context;
    const stored = await readCredentials(credentialFile);
    const removed = this.flags.all ? everythingIn(stored) : chosenBy(await context.loadSettings({stored: false}));
    const remaining = withoutCredentials(stored, removed);
    const secretsAt = (origin: string, {origins}: StoredCredentials) => secretsIn(origins[origin] ?? {}).length;
    const origins = Object.keys(stored.origins).filter((name) => secretsAt(name, remaining) < secretsAt(name, stored));
    const backends = Object.keys(stored.backends ?? {}).filter(
      (name) => ownValue(remaining.backends ?? {}, name) === undefined,
    );
    if (origins.length + backends.length > 0 || remaining.trusted?.length !== stored.trusted?.length) {
      await updateCredentials(credentialFile, (now) => withoutCredentials(now, removed));
    }
    for (const name of origins) {
      const stays = credentialEntries(remaining).find(({origin}) => origin === name)?.kind;
      const gone = stays === undefined ? 'credentials' : stays === 'api-key' ? 'OAuth credentials' : 'API key';
      output.outcome(`Removed the ${gone} for ${name}.${stays === undefined ? '' : ` Its ${stays} stays.`}`);
    }
    for (const name of backends) output.outcome(`Removed the secrets for the ${name} backend.`);
    if (origins.length + backends.length === 0) {
      const [backend = '', ...others] = removed.backends;
      const what = others.length > 0 ? 'credentials' : `credentials of the ${backendTitle(backend)} backend`;
      const places = this.flags.all ? [] : removed.origins.map((name) => ` for ${name}`);
      output.outcome(`No ${what} are stored${places.join(' or')}.`);
      const known = [...Object.keys(stored.origins), ...Object.keys(stored.backends ?? {}), 'legacy', 'api'];
      const asked = [...removed.origins, ...removed.backends];
      const meant = asked.flatMap((name) => near(name, known, 2)).filter((name) => !asked.includes(name));
      for (const sentence of suggestNames(meant)) output.hint(sentence);
    }
    return {removed: [...origins, ...backends]};
  }
}

function everythingIn({origins, trusted = [], backends = {}}: StoredCredentials): RemovedCredentials {
  const trustedOrigins = trusted.map(addressOrigin);
  return {
    origins: [...new Set([...Object.keys(origins), ...trustedOrigins])],
    backends: ['legacy', 'api', ...Object.keys(backends)],
  };
}

/** What the flags name, or else the configuration. An address in a flag counts more than a configured backend. */
function chosenBy({runtimeBackend, origin, apiOrigin}: Settings): RemovedCredentials {
  const hasAddress = [origin, apiOrigin].some((setting) => setting?.source.kind === 'flag');
  const preference = hasAddress && runtimeBackend.source.kind !== 'flag' ? 'auto' : runtimeBackend.value;
  if (isPluginBackend(preference)) return {origins: [], backends: [preference]};
  const backends = (['legacy', 'api'] as const).filter((name) => mayUse(preference, name));
  const addresses = backends.flatMap((name) => (name === 'legacy' ? origin : apiOrigin) ?? []);
  const flagged = addresses.filter(({source}) => source.kind === 'flag');
  const origins = (flagged.length > 0 ? flagged : addresses).flatMap((setting) => originOf(setting) ?? []);
  if (origins.length > 0) return {origins: [...new Set(origins)], backends};
  throw createError('ERR_USAGE', 'No origin specified.', {
    suggestions: [
      ['Pass --origin, --api-origin or --all. Run ', {run: ['auth:status']}, ' to list the stored credentials.'],
    ],
  });
}
