import {json} from '../answer.js';
import type {Protocol} from '../context.js';

/** The description of the protocols, which needs no credentials. */
export const openApiProtocol: Protocol = {
  prefix: '/openapi.json',
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
