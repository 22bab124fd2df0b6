import {render} from './server/page.js';

/** The server's entry: answers a request, of which it needs the URL, with a page of HTML. */
export function handler(request) {
  return render({path: new URL(request.url, 'http://storefront').pathname, assetsBase: '/static/'});
}
