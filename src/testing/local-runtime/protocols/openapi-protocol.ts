import {json} from '../answer.js';
import type {Protocol} from '../context.js';

/** Path of the description of all protocols. */
export const openApiPath = '/openapi.json';

/** The description of the protocols, which needs no credentials. */
export const openApiProtocol: Protocol = {
  prefix: openApiPath,
  anyFinalSlash: false,
  routes: [
    {
      method: 'GET',
      pattern: '',
      name: 'openapi',
      async handle({origin}) {
        const {openApiDocument} = await import('../openapi/document.js');
        return json(200, openApiDocument(origin));
      },
    },
  ],
  admit: () => 'reader',
  failure: ({status, message, headers}) => json(status, {detail: message, message}, headers),
};
