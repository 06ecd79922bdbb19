import { render } from "preact";
import { useQuery } from "@sheaf/sheaf/preact";
import { tasks } from "./tasks.js";

function App() {
  const { data = [] } = useQuery(tasks.where({ done: false }));
  return (
    <>
      <button onClick={() => tasks.create({ title: "Ship it" })}>Add</button>
      <ul>
        {data.map(({ id, title }) => (
          <li key={id} onClick={() => tasks.update(id, { done: true })}>
            {title}
          </li>
        ))}
      </ul>
    </>
  );
}

render(<App />, document.getElementById("app"));
