import React, { useState, type ReactNode } from "react";
import * as api from "../api";
import styles from "./basket.module.css";

/** What a line of the basket shows. */
export interface LineProps {
  item: Item;
  onRemove?: (id: string) => void;
  children?: ReactNode;
}

const MAX = 9;

/** One line. */
const Line: React.FC<LineProps> = ({ item, onRemove, children }) => {
  const remove = () => onRemove?.(item.id);
  return (
    <li className={styles.line} key={item.id}>
      <Price.Tag value={item.price} max={MAX} />
      <button onClick={remove}>{children}</button>
    </li>
  );
};

/*
 * The basket. Loads its lines once.
 */
export default function Basket<T extends Item>({ items, title = "Basket" }: { items: T[]; title?: string }) {
  const [open, setOpen] = useState<boolean>(false);
  const toggle = React.useCallback(() => setOpen((was) => !was), [open]);
  if (!open) return <></>;
  return (
    <Panel {...styles} onClick={toggle}>
      <h1>{title.toUpperCase()}</h1>
      {items.map((item) => <Line key={item.id} item={item} onRemove={api.remove} />)}
    </Panel>
  );
}

class Boundary extends React.Component<{ fallback: ReactNode }, State> {
  state: State = { failed: false };

  static getDerivedStateFromError(): State { return { failed: true }; }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : <Basket {...this.props} />;
  }
}

export const withBoundary = (Inner: React.ComponentType) => function Wrapped(props: object) {
  return <Boundary fallback={<Line item={none} />}><Inner {...props} /></Boundary>;
};
