/* fake_library.c - something that can be preloaded and does nothing */

int fake_library(void);

int fake_library(void)
{
	return 0;
}
