import type {RuntimeStartDocument} from '../output/documents.js';

/** A running local runtime, as seen by its clients. */
type Runtime = Pick<RuntimeStartDocument, 'origin' | 'credentials'>;

type Variables = Readonly<Record<string, (runtime: Runtime) => string>>;

const legacyVariables: Variables = {
  MYCLI_RUNTIME_ORIGIN: ({origin}) => origin,
  MYCLI_API_KEY: ({credentials}) => credentials.apiKey,
};
const apiVariables: Variables = {
  MYCLI_API_ORIGIN: ({origin}) => origin,
  MYCLI_ORGANIZATION: ({credentials}) => credentials.organizationId,
  MYCLI_TOKEN_URL: ({credentials}) => credentials.tokenUrl,
  MYCLI_CLIENT_ID: ({credentials}) => credentials.clientId,
  MYCLI_CLIENT_SECRET: ({credentials}) => credentials.clientSecret,
};
const allVariables: Variables = {...legacyVariables, ...apiVariables};

/** The names of the variables that point mycli at a local runtime. */
export const variableNames = Object.keys(allVariables);

/** The variables that point mycli at a local runtime, for both backends. */
export function runtimeVariables(runtime: Runtime): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(allVariables).map(([name, of]) => [name, of(runtime)]));
}

/** The same as lines of a dotenv file. */
export function dotenvLines(runtime: Runtime, variables = allVariables): readonly string[] {
  return Object.entries(variables).map(([name, of]) => `${name}=${of(runtime)}`);
}

/** The instructions for newcomers: the variables, what to type next, and how to stop. */
export function nextSteps(runtime: Runtime): readonly string[] {
  const exports = (variables: Variables) => dotenvLines(runtime, variables).map((line) => `export ${line}`);
  return [
    '',
    'In another terminal, point mycli at it:',
    '',
    ...exports(legacyVariables),
    '',
    'Optional, for the Api backend, which can upload, list and deploy bundles but not download or delete them:',
    '',
    ...exports(apiVariables),
    '',
    'Then push a build from a project with a build/ folder:',
    '',
    'mycli bundle:push --project my-shop --target staging --wait',
    '',
    `It is served at ${runtime.origin}/my-shop/staging/. Press Ctrl-C to stop the runtime.`,
  ];
}
