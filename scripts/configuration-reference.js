// Writes the tables of docs/reference/configuration.md from the settings. Part of the build, so that drift is seen.
import {writeFile} from 'node:fs/promises';
import {definitions, flagSets, settingKeys, summaryOf, variableOf} from '../dist/cli/settings/definitions.js';

const cell = (text) => text.replaceAll('|', '\\|');
const code = (text) => (text === undefined ? '' : `\`${cell(text)}\``);

function row(key) {
  const {flag, config, kind} = definitions[key];
  const value = flag?.value ?? kind.options?.join('|');
  const shown =
    flag &&
    `${flag.char === undefined ? '' : `-${flag.char}, `}--${flag.name}${value === undefined ? '' : ` ${value}`}`;
  return `| ${code(shown)} | ${code(variableOf(key))} | ${code(config)} | ${cell(summaryOf(key))} |`;
}

function table(heading) {
  const keys = settingKeys.filter((key) => flagSets[definitions[key].set] === heading);
  return `## ${heading[0]}${heading.slice(1).toLowerCase()}

| flag | variable | key of the config file | |
| --- | --- | --- | --- |
${keys.map(row).join('\n')}
`;
}
const tables = [...new Set(Object.values(flagSets))].map(table).join('\n');

const page = `# Configuration

<!-- Written by scripts/configuration-reference.js from src/cli/settings and src/cli/flags. -->

A setting is taken from the first that has it: flag, environment variable, config file, stored credentials, default. What a push
resolved, and
where each value came from, is printed before anything is sent. An empty variable counts as unset.

A flag that takes several values is repeated, one value each time; globs may also be comma-separated (braces survive) or a JSON
array, and so may every list in the environment. \`--ssr-param\` and \`--backend-option\` take \`key=value\`, where the value may be JSON.
\`--no-wait\`, \`--no-v2\` and \`--no-if-changed\` turn off what the environment or the config file turned on.

${tables}
## Config file

\`mycli.config.ts\`, \`.mts\`, \`.js\`, \`.mjs\` or \`.json\`, or the key \`mycli\` of package.json. It is looked for from the working directory
up to the repository's root, without a repository in the working directory only, and never taken when another user owns it.
\`--config FILE\` names one. Paths in it start from its folder. TypeScript and JavaScript files are code: they are executed with
your rights.

\`\`\`ts
export default {
  projectSlug: 'my-shop',
  buildDirectory: 'dist',
  origin: 'https://runtime.example',
  api: {origin: 'https://api.example', organizationId: 'org_1', tokenUrl: 'https://login.example/token', clientId: 'ci', scopes: []},
  rateLimit: {maxRetries: 5, prefix: 'push'},
  backends: {acme: {region: 'eu'}},
};
\`\`\`

An unknown key is an error that names the nearest known one.

## Secrets

\`--api-key\`, \`--client-secret\` and \`--api-token\` do not belong into the config file: there they are an error. They come from the environment, from
a file (\`--api-key @FILE\`) or from stdin (\`--api-key -\`, one of them). A literal on the command line works and is warned about, because
others on the machine can see it.

## Stored credentials

\`mycli auth:login\` keeps credentials for one origin, so that no variable has to be set. It asks for the secret without showing it, or reads
it from stdin; it never stands on the command line.

\`\`\`sh
mycli auth:login --origin https://runtime.example
mycli auth:login --origin https://runtime.example < key.txt
mycli auth:login --api-origin https://api.example --token-url https://login.example/token --client-id ci
mycli auth:login --api-origin https://api.example --kind api-token
\`\`\`

They stand in \`credentials.json\` in the configuration folder (\`~/.config/mycli\`, \`$XDG_CONFIG_HOME/mycli\` or \`%LOCALAPPDATA%\\mycli\`), readable by
its owner only (0600, the folder 0700); looser modes are warned about. Stored credentials are used for their origin only, scheme and port included,
and only when no flag and no variable names a secret for that backend. A client secret is used only with the client id and the token URL that it
was stored with.

\`mycli auth:status\` lists what is stored and what a push from here would use, without a secret. \`mycli auth:logout\` forgets the credentials of an
origin, with \`--all\` those of every one.

## Trusted origins

\`MYCLI_TRUSTED_ORIGINS\`, a comma-separated list, lets credentials of the built-in backends go to these origins only. An \`http:\` origin that is not this machine
is warned about before credentials go there.

## Network and output

Proxies come from \`HTTPS_PROXY\`, \`HTTP_PROXY\` and \`NO_PROXY\`, more certificate authorities from \`NODE_EXTRA_CA_CERTS\`. \`NO_COLOR\` and
\`FORCE_COLOR\` are obeyed, and \`DEBUG=mycli*\` is \`--debug\`.
`;

await writeFile(new URL('../docs/reference/configuration.md', import.meta.url), page);
