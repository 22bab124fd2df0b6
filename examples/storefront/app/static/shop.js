const basket = document.querySelector('#basket');
let count = 0;

for (const link of document.querySelectorAll('li a')) {
  link.addEventListener('click', (event) => {
    event.preventDefault();
    count += 1;
    basket.textContent = count === 1 ? 'One thing in your basket.' : `${count} things in your basket.`;
  });
}
