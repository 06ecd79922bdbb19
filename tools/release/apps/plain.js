import { tasks } from "./tasks.js";

const button = document.createElement("button");
button.textContent = "Add";
button.onclick = () => tasks.create({ title: "Ship it" });
const list = document.createElement("ul");
document.body.append(button, list);

tasks.where({ done: false }).store().subscribe((rows) => {
  list.replaceChildren(...rows.map(({ id, title }) => {
    const row = document.createElement("li");
    row.textContent = title;
    row.onclick = () => tasks.update(id, { done: true });
    return row;
  }));
});
