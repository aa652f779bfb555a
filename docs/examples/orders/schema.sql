create table customers (id int primary key, region text not null);
insert into customers select i, 'region ' || i % 8 from generate_series(1, 100) i;
create table orders (id int primary key, customer int not null references customers, cents int not null, note text);
insert into orders select i, 1 + i % 100, 100 + i * 31 % 9000, 'order no. ' || i from generate_series(1, 2000) i;
create index on orders (customer);
analyze;
