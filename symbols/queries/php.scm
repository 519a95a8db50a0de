; to come
