import React from 'react';

type Props = { title: string };

// Shows a title.
export function Title(props: Props) {
  return <Frame><Text value={props.title} /></Frame>;
}
