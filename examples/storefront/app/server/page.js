import {assets} from './assets.js';
import {products} from './products.js';

const escape = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

function card({id, name, price, about}) {
  return `<li><a href="?product=${id}"><h2>${escape(name)}</h2></a><p>${escape(about)}</p><p class="price">${price} €</p></li>`;
}

/** The page at `path`: a product's at `/products/{id}`, else all of them. */
export function render({path, assetsBase}) {
  const product = products.find(({id}) => path === `/products/${id}`);
  const title = product === undefined ? 'Lamp & Leaf' : `${product.name} · Lamp & Leaf`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>${escape(title)}</title>
    <link rel="icon" href="${assetsBase}${assets['logo.svg']}" />
    <link rel="stylesheet" href="${assetsBase}${assets['shop.css']}" />
    <script type="module" src="${assetsBase}${assets['shop.js']}"></script>
  </head>
  <body>
    <h1><img src="${assetsBase}${assets['logo.svg']}" alt="" width="40" height="40" /> ${escape(title)}</h1>
    <ul>
      ${(product === undefined ? products : [product]).map(card).join('\n      ')}
    </ul>
    <p id="basket">Your basket is empty.</p>
  </body>
</html>
`;
}
