/** What the shop sells. A real one would ask its commerce platform. */
export const products = [
  {id: 'reading-lamp', name: 'Reading lamp', price: 48, about: 'Warm light for one chair and one book.'},
  {id: 'fern', name: 'Fern', price: 19, about: 'Likes shade, water and being left alone.'},
  {id: 'tea-tin', name: 'Tea tin', price: 12, about: 'Closes tightly. Holds 200 g.'},
];
