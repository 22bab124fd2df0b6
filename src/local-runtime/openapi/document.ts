import {tokenPath} from '../protocols/token-protocol.js';
import {apiPaths} from './api-paths.js';
import {legacyPaths} from './legacy-paths.js';
import {answer, components, refuse} from './parts.js';
import {onlyLocal, type Part} from './schema-parts.js';
import {schemas} from './schemas.js';

const description = `
The HTTP interface of the services that \`mycli\` pushes bundles to. Implement one of its two halves, **Api** or **legacy**, and mycli can use your server with the backend of that name. The local runtime (\`mycli runtime:start\`) implements both.

- **What to implement.** Uploads and lists of bundles are the minimum. Deployments and lists of deployments let clients deploy, and wait for the outcome.
- **Members.** Ignore members of a request that you don't know, unless its schema has \`additionalProperties: false\`. Answers may have more members than described. Those that are not required may be missing or null; fill in what you can.
- **Marks.** \`x-only-hosted\` marks what the local runtime never answers or sends, \`x-only-local\` what only the local runtime has. Everything else is tested against it.
- **Paths.** The paths of the legacy half end with a slash, those of the Api half do not. Serve both forms of each. Every part of a path is percent-encoded.
- **Methods.** GET implies HEAD. Answer an unknown path with 404, and a known path with another method with 405 and \`Allow\`, in the form of the other refusals.
- **Request headers.** \`User-Agent\` starts with \`mycli/VERSION\`, the semantic version of the client. Some clients send no \`Content-Type\`; assume that of the operation.
- **Refusals.** Every status other than 2xx is a failure, whatever its body, and so is a redirect: clients follow none. If the body has the described form, clients show its text.
- **Repetitions.** After 429, clients wait and send the whole request again. They repeat no other request that uploads, deploys or deletes, because it may have been carried out.
- **Bundle IDs** are integers below 2^53.
`.trim();

const securitySchemes = {
  oauth: {
    type: 'oauth2',
    description: 'An access token of the client credentials grant. The names of scopes are up to the service.',
    flows: {clientCredentials: {tokenUrl: tokenPath, scopes: {}}},
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token from elsewhere. Clients cannot renew it.',
  },
  client: {type: 'http', scheme: 'basic', description: 'The client ID as the user, the client secret as the password.'},
  apiKey: {type: 'http', scheme: 'bearer', description: 'The API key of a user.'},
  apiKeyOfUser: {type: 'http', scheme: 'basic', description: 'A user name, and the API key as the password.'},
};

const self: Part = {
  '/openapi.json': {
    get: {
      operationId: 'getOpenApi',
      tags: ['local'],
      ...onlyLocal,
      summary: 'This document',
      description: 'The server in it is the one that was asked.',
      security: [],
      responses: {
        '200': answer('The document.', 'OpenApiDocument', {
          openapi: '3.1.1',
          info: {title: 'Runtime', version: '1.0.0'},
        }),
        ...refuse('Legacy'),
      },
    },
  },
};

/**
 * The OpenAPI document of all protocols.
 * @param origin of the server. @default the local runtime's address with its port left open
 */
export function openApiDocument(origin?: string): Part {
  const server =
    origin === undefined
      ? {
          url: 'http://127.0.0.1:{port}',
          description: 'A local runtime. A hosted service may have a path before those below.',
          variables: {port: {default: '8080'}},
        }
      : {url: origin, description: 'This local runtime.'};
  return {
    openapi: '3.1.1',
    info: {
      title: 'Runtime',
      version: '1.0.0',
      summary: 'The wire between mycli and a hosting service.',
      description,
      license: {name: 'Apache-2.0', identifier: 'Apache-2.0'},
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [server],
    tags: [
      {name: 'Api', description: 'The Api backend: OAuth, v2 bundles.'},
      {name: 'legacy', description: 'The legacy backend: API key, v1 and v2 bundles.'},
      {name: 'local', description: 'What only the local runtime serves.'},
    ],
    paths: {...apiPaths, ...legacyPaths, ...self},
    components: {securitySchemes, ...components, schemas},
  };
}
