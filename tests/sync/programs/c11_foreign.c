/* SPDX-License-Identifier: MIT */
/*
 * Mutexes with C11's names that are not glibc's, as libraries defined them before glibc did: the
 * type has a field before the pthread_mutex_t. -DLIBRARY: the library; otherwise the program that
 * uses it.
 */
#include <pthread.h>
#include <stdio.h>

struct foreign {
	long magic;
	pthread_mutex_t inside;
};

int mtx_init(struct foreign *mutex, int type);
int mtx_lock(struct foreign *mutex);
int mtx_unlock(struct foreign *mutex);

#ifdef LIBRARY
int mtx_init(struct foreign *mutex, int type)
{
	mutex->magic = 4711 + type;
	return pthread_mutex_init(&mutex->inside, NULL) == 0 ? 0 : 2;
}

int mtx_lock(struct foreign *mutex)
{
	return mutex->magic == 4711 && pthread_mutex_lock(&mutex->inside) == 0 ? 0 : 2;
}

int mtx_unlock(struct foreign *mutex)
{
	return mutex->magic == 4711 && pthread_mutex_unlock(&mutex->inside) == 0 ? 0 : 2;
}
#else
int main(void)
{
	static struct foreign mutex;
	int wrong = mtx_init(&mutex, 0);

	for (int i = 0; i < 10; i++)
		wrong += mtx_lock(&mutex) + mtx_unlock(&mutex);
	printf("inside %p\n", (void *)&mutex.inside);
	return wrong != 0 || mutex.magic != 4711;
}
#endif
